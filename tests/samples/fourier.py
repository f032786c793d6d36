"""Samples of Fourier transforms, and of spectra over time."""

from tests.samples import array, call, samples

_NORMS = ("backward", "forward", "ortho")


def complex_array(*shape, **options):
    return array(*shape, kind="complex", **options)


for _name in ("fft", "ifft"):
    samples(f"fft.{_name}", call(array(3, 5)), call(array(6)), call(complex_array(3, 4)),
            call(array(3, 5), 3), call(array(3, 4), 7), call(complex_array(4, 3), 6, 0),
            *[call(array(2, 4), norm=norm) for norm in _NORMS], call(array(1)),
            complex=True)
for _name in ("rfft", "ihfft"):
    samples(f"fft.{_name}", call(array(3, 5)), call(array(6)), call(array(3, 5), 3),
            call(array(3, 4), 7), call(array(4, 3), 6, 0), call(array(1)),
            *[call(array(2, 4), norm=norm) for norm in _NORMS])
for _name in ("irfft", "hfft"):
    samples(f"fft.{_name}", call(array(3, 5)), call(complex_array(4)), call(array(3, 5), 4),
            call(complex_array(3, 4), 5), call(array(3, 4), 9), call(complex_array(4, 3), 7, 0),
            *[call(array(2, 4), norm=norm) for norm in _NORMS], call(array(2), 1),
            complex=True)
for _name in ("fftn", "ifftn", "fft2", "ifft2"):
    samples(f"fft.{_name}", call(array(3, 4)), call(complex_array(2, 3, 4)),
            call(array(3, 4), (2, 5)), call(complex_array(3, 4, 2), (2, 5), (0, 1)),
            call(array(3, 4), dim=(1,)), call(array(3, 4), s=(-1, 3)), call(array(3, 4), dim=()),
            call(array(2, 4), norm="ortho"), call(array(30, 70)), complex=True)
for _name in ("rfftn", "ihfftn", "rfft2", "ihfft2"):
    samples(f"fft.{_name}", call(array(3, 4)), call(array(2, 3, 5)), call(array(3, 4), (2, 5)),
            call(array(3, 4, 2), (2, 5), (0, 1)), call(array(3, 4), dim=(0,)),
            call(array(3, 4), s=(-1, 3)), call(array(2, 4), norm="ortho"), call(array(30, 70)))
for _name in ("irfftn", "hfftn", "irfft2", "hfft2"):
    samples(f"fft.{_name}", call(array(3, 4)), call(complex_array(2, 3, 4)),
            call(array(3, 4), (2, 5)), call(complex_array(3, 4, 2), (2, 6), (0, 1)),
            call(array(3, 4), dim=(0,)), call(array(3, 4), s=(3, -1)),
            call(array(2, 4), norm="ortho"), call(array(30, 70)), complex=True)
for _name in ("fftshift", "ifftshift"):
    samples(f"fft.{_name}", call(array(3, 4)), call(array(5)), call(array(3, 4, 2), (0, 2)),
            call(array(3, 4), 1), complex=True)

_window = array(6, low=0.5, high=1.5)
samples("stft", call(array(2, 20), 6, window=_window, return_complex=True),
        call(array(20), 6, 4, window=_window, return_complex=True),
        call(array(2, 20), 8, 3, 6, _window, return_complex=True),
        call(array(2, 20), 6, window=_window, center=False, return_complex=True),
        call(array(2, 20), 6, window=_window, normalized=True, onesided=False,
             return_complex=True),
        call(array(2, 20), 6, window=_window, pad_mode="constant", return_complex=True),
        call(array(20), 8, 3, 6, _window, center=False, return_complex=True,
             align_to_window=True))
samples("istft", call(complex_array(2, 4, 5), 6, window=_window),
        call(complex_array(4, 5), 6, 2, window=_window),
        call(complex_array(2, 5, 5), 8, 2, 6, _window),
        call(complex_array(4, 5), 6, 2, window=_window, length=6),
        call(complex_array(4, 5), 6, 2, window=_window, center=False),
        call(complex_array(4, 5), 6, 2, window=_window, normalized=True),
        call(complex_array(6, 5), 6, 2, window=_window, onesided=False),
        call(complex_array(6, 5), 6, 2, window=_window, return_complex=True))
