"""Samples of convolution, pooling, padding and resampling."""

from tests.samples import array, call, index, samples

samples("nn.functional.conv1d",
        call(array(2, 3, 8), array(4, 3, 3), array(4)), call(array(2, 3, 8), array(4, 3, 3)),
        call(array(3, 8), array(4, 3, 3), array(4), stride=2, padding=1),
        call(array(2, 4, 8), array(6, 2, 3), array(6), padding=2, dilation=2, groups=2),
        call(array(1, 2, 7), array(3, 2, 3), padding="same"), complex=True)
samples("nn.functional.conv2d",
        call(array(2, 3, 5, 6), array(4, 3, 3, 3), array(4)),
        call(array(2, 3, 5, 6), array(4, 3, 2, 3)),
        call(array(3, 5, 6), array(4, 3, 3, 3), array(4)),
        call(array(2, 3, 7, 6), array(4, 3, 3, 2), array(4), stride=2, padding=1),
        call(array(2, 3, 7, 6), array(4, 3, 3, 2), array(4), stride=(1, 2), padding=(2, 1)),
        call(array(2, 3, 7, 7), array(2, 3, 3, 3), dilation=2),
        call(array(2, 4, 5, 5), array(6, 2, 3, 3), array(6), groups=2),
        call(array(2, 4, 5, 5), array(4, 1, 3, 3), array(4), groups=4, padding=1),
        call(array(1, 2, 5, 5), array(3, 2, 3, 3), padding="same"),
        call(array(1, 2, 5, 5), array(3, 2, 3, 3), padding="valid"),
        call(array(1, 2, 4, 4), array(3, 2, 1, 1), array(3)), complex=True)
samples("nn.functional.conv3d",
        call(array(2, 2, 3, 4, 4), array(3, 2, 2, 3, 2), array(3)),
        call(array(1, 2, 4, 4, 4), array(2, 1, 2, 2, 2), stride=2, padding=1, groups=2))
samples("conv2d", call(array(2, 3, 5, 6), array(4, 3, 3, 3), array(4)), complex=True)
samples("nn.functional.conv_transpose1d",
        call(array(2, 3, 5), array(3, 4, 3), array(4)),
        call(array(3, 5), array(3, 2, 3), None, 2, 1, 1),
        call(array(2, 4, 5), array(4, 3, 3), groups=2, dilation=2), complex=True)
samples("nn.functional.conv_transpose2d",
        call(array(2, 3, 4, 4), array(3, 2, 3, 3), array(2)),
        call(array(2, 3, 4, 4), array(3, 2, 3, 3), array(2), stride=2, padding=1,
             output_padding=1),
        call(array(2, 4, 3, 3), array(4, 2, 2, 2), groups=2, stride=(2, 1)),
        call(array(3, 4, 4), array(3, 2, 3, 3)), complex=True)
samples("nn.functional.conv_transpose3d",
        call(array(1, 2, 3, 3, 3), array(2, 2, 2, 2, 2), array(2), stride=2))


def grid(*shape):
    """Distinct values, so that every maximum is unique."""
    return array(*shape, kind="distinct")


samples("nn.functional.max_pool1d", call(grid(2, 3, 8), 2), call(grid(3, 8), 3, 2, 1),
        call(grid(2, 3, 8), 3, 1, 1, 2), call(grid(2, 3, 8), 3, 2, ceil_mode=True),
        call(grid(2, 3, 8), 2, return_indices=True))
samples("nn.functional.max_pool2d", call(grid(2, 3, 6, 6), 2), call(grid(3, 6, 7), 3, 2, 1),
        call(grid(2, 3, 7, 7), (3, 2), stride=(1, 2), padding=(1, 0), dilation=(2, 1)),
        call(grid(2, 3, 7, 7), 2, ceil_mode=True), call(grid(2, 3, 7, 7), 3, 1),
        call(grid(2, 3, 6, 6), 2, return_indices=True),
        call(grid(2, 3, 6, 6), 3, 2, 1, return_indices=True))
samples("nn.functional.max_pool3d", call(grid(1, 2, 4, 4, 4), 2),
        call(grid(1, 2, 4, 5, 4), 3, 1, 1))
samples("nn.functional.avg_pool1d", call(array(2, 3, 8), 2), call(array(3, 8), 3, 2, 1),
        call(array(2, 3, 8), 3, 2, 1, True, False))
samples("nn.functional.avg_pool2d", call(array(2, 3, 6, 6), 2), call(array(3, 6, 7), 3, 2, 1),
        call(array(2, 3, 7, 7), 2, ceil_mode=True),
        call(array(2, 3, 7, 7), 3, 2, 1, ceil_mode=True),
        call(array(2, 3, 7, 7), 3, 2, 1, count_include_pad=False),
        call(array(2, 3, 7, 7), 3, 2, 1, divisor_override=5))
samples("nn.functional.avg_pool3d", call(array(1, 2, 4, 4, 4), 2),
        call(array(1, 2, 4, 5, 4), 3, 1, 1, count_include_pad=False))
samples("nn.functional.adaptive_avg_pool1d", call(array(2, 3, 8), 3), call(array(3, 8), 1))
samples("nn.functional.adaptive_avg_pool2d", call(array(2, 3, 7, 5), 3),
        call(array(2, 3, 7, 5), 1), call(array(3, 7, 5), (None, 2)),
        call(array(2, 3, 4, 4), (6, 2)))
samples("nn.functional.adaptive_avg_pool3d", call(array(1, 2, 4, 5, 3), (2, 3, 2)))
samples("nn.functional.adaptive_max_pool1d", call(grid(2, 3, 8), 3))
samples("nn.functional.adaptive_max_pool2d", call(grid(2, 3, 7, 5), 3),
        call(grid(3, 7, 5), (2, None)), call(grid(2, 3, 7, 5), 2, return_indices=True))
samples("nn.functional.adaptive_max_pool3d", call(grid(1, 2, 4, 5, 3), 2))
samples("nn.functional.unfold", call(array(2, 3, 5, 6), 2),
        call(array(3, 5, 6), (2, 3), dilation=2, padding=1, stride=2), complex=True)
samples("nn.functional.fold", call(array(2, 12, 20), (5, 6), 2),
        call(array(12, 12), (5, 6), (2, 2), padding=1, stride=2), complex=True)
samples("nn.functional.pad",
        call(array(2, 3), (1, 2)), call(array(2, 3, 4), (1, 0, 2, 1), value=3.5),
        call(array(2, 5), (-1, 2)), call(array(2, 3), ()),
        call(array(2, 3, 4), (1, 2), "reflect"), call(array(2, 3, 4, 5), (1, 2, 2, 1), "reflect"),
        call(array(1, 2, 3, 4, 5), (1, 2, 2, 1, 1, 0), "reflect"),
        call(array(3, 4), (1, 2), "replicate"), call(array(2, 3, 4, 5), (4, 6, 2, 1), "replicate"),
        call(array(2, 3, 4), (1, 2), "circular"), call(array(2, 3, 4, 5), (1, 2, 2, 1), "circular"),
        call(array(2, 3, 8), (-2, 1), "reflect"), call(array(2, 3, 8), (-2, 1), "circular"),
        complex=True)
samples("constant_pad_nd", call(array(2, 3), (1, 2)), call(array(2, 3), (1, -1), 2.0),
        complex=True)
samples("nn.functional.interpolate", call(array(2, 3, 4), scale_factor=2),
        call(array(2, 3, 4, 5), size=(7, 3)), call(array(2, 3, 4, 5), scale_factor=1.6),
        call(array(1, 2, 3, 3, 3), scale_factor=2),
        call(array(2, 3, 4, 5), size=7, mode="nearest-exact"),
        call(array(2, 3, 4), size=7, mode="linear"),
        call(array(2, 3, 4, 5), scale_factor=2, mode="bilinear"),
        call(array(2, 3, 4, 5), scale_factor=1.6, mode="bilinear"),
        call(array(2, 3, 4, 5), scale_factor=1.6, mode="bilinear", recompute_scale_factor=True),
        call(array(2, 3, 4, 5), size=(7, 3), mode="bilinear", align_corners=True),
        call(array(2, 3, 4, 5), size=(7, 3), mode="bicubic"),
        call(array(2, 3, 4, 5), size=(7, 3), mode="bicubic", align_corners=True),
        call(array(1, 2, 3, 3, 3), scale_factor=2, mode="trilinear"),
        call(array(2, 3, 4, 5), size=(2, 3), mode="area"))
samples("pixel_shuffle", call(array(2, 8, 3, 2), 2), complex=True)
samples("pixel_unshuffle", call(array(2, 2, 6, 4), 2), complex=True)
samples("nn.functional.lp_pool1d", call(array(2, 3, 8, low=0.5), 2.0, 2),
        call(array(3, 8, low=0.5), 3.0, 3, 2))
samples("nn.functional.lp_pool2d", call(array(2, 3, 6, 6, low=0.5), 2.0, 2),
        call(array(3, 6, 7, low=0.5), 1.5, (2, 3), (2, 1), True))
samples("nn.functional.lp_pool3d", call(array(1, 2, 4, 4, 4, low=0.5), 2.0, 2))
samples("nn.functional.max_unpool1d", call(array(2, 3, 1), index(2, 3, 1, high=2), 2),
        call(array(2, 1), index(2, 1, high=5), 4, output_size=(5,)))
samples("nn.functional.max_unpool2d", call(array(2, 3, 1, 1), index(2, 3, 1, 1, high=4), 2),
        call(array(3, 1, 1), index(3, 1, 1, high=6), (2, 3), output_size=(1, 3, 2, 4)),
        call(array(0, 3, 2, 2), index(0, 3, 2, 2, high=4), 2))
samples("nn.functional.max_unpool3d", call(array(1, 2, 1, 1, 1), index(1, 2, 1, 1, 1, high=8), 2))


def spots(*shape, seed=0):
    """Numbers from 0 to 1 that say where windows begin."""
    return array(*shape, low=0.05, high=0.95, grad=False, seed=seed)


for name in ("fractional_max_pool2d", "fractional_max_pool2d_with_indices"):
    samples(f"nn.functional.{name}",
            call(grid(2, 3, 7, 6), 2, (3, 4), _random_samples=spots(2, 3, 2)),
            call(grid(3, 7, 6), (3, 2), output_ratio=(0.5, 0.7), _random_samples=spots(1, 3, 2)),
            call(grid(1, 2, 5, 5), 2, 1), call(grid(1, 2, 5, 5), 2, 4, return_indices=True))
for name in ("fractional_max_pool3d", "fractional_max_pool3d_with_indices"):
    samples(f"nn.functional.{name}",
            call(grid(1, 2, 6, 5, 7), 2, (3, 2, 4), _random_samples=spots(1, 2, 3)),
            call(grid(2, 5, 5, 6), (1, 2, 3), output_ratio=0.5, return_indices=True))
samples("channel_shuffle", call(array(2, 6, 3), 3), call(array(1, 4, 2, 3), 2),
        call(array(2, 4, 1, 2, 1), 4))


def places(*shape):
    """Places in and around an image, none where its interpolation bends."""
    return array(*shape, low=-1.3, high=1.3)


samples("nn.functional.grid_sample",
        *[call(array(2, 3, 4, 5), places(2, 3, 2, 2), mode, padding, corners)
          for mode in ("bilinear", "bicubic", "nearest")
          for padding in ("zeros", "border", "reflection") for corners in (False, True)],
        *[call(array(1, 2, 3, 2, 4), places(1, 2, 1, 2, 3), mode, padding, False)
          for mode in ("bilinear", "nearest") for padding in ("zeros", "border", "reflection")],
        twice=False)  # twice it bends at every element
for name, images in (("grid_sampler", (1, 2, 4, 3)), ("grid_sampler_2d", (1, 2, 4, 3)),
                     ("grid_sampler_3d", (1, 2, 2, 3, 4))):
    samples(name, call(array(*images), places(1, *[2] * (len(images) - 2), len(images) - 2), 0, 0,
                       False))
samples("nn.functional.affine_grid", call(array(2, 2, 3), (2, 3, 4, 5), False),
        call(array(1, 2, 3), (1, 1, 2, 3), True), call(array(2, 3, 4), (2, 1, 3, 2, 1), False))
samples("nn.functional.max_pool1d_with_indices", call(grid(2, 3, 8), 2), call(grid(3, 8), 3, 2, 1))
samples("max_pool1d_with_indices", call(grid(2, 3, 8), 2))
samples("nn.functional.max_pool2d_with_indices", call(grid(2, 3, 6, 6), 2),
        call(grid(3, 6, 7), 3, 2, 1))
samples("nn.functional.max_pool3d_with_indices", call(grid(1, 2, 4, 4, 4), 2))
samples("nn.functional.adaptive_max_pool1d_with_indices", call(grid(2, 3, 8), 3))
samples("nn.functional.adaptive_max_pool2d_with_indices", call(grid(2, 3, 7, 5), 3))
samples("nn.functional.adaptive_max_pool3d_with_indices", call(grid(1, 2, 4, 5, 3), 2))
