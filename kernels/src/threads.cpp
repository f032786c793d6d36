// A crew of threads that sleep until there is work. Whoever shares work out takes part in it.
//
// - One piece of work is shared at a time; who comes meanwhile, from another thread or from inside
//   a piece, does his own alone. So nobody waits for the crew, and nothing can lock up.
// - Pieces are taken one by one: a helper that is held up, or never wakes, delays nobody by more
//   than the piece it has in hand.
// - Everybody begins with a part of his own, the same one whenever an array of that size is shared, so
//   that what he wrote before is in his cache; whoever has finished his part goes on with others'.
// - The pieces of a part are taken in turns from its beginning and from its end, also by who is alone: what
//   was touched last is still in the cache, and would be pushed out of it by all the rest.
// - The crew runs on other processors than the one who shares: some schedulers wake a thread up where the one
//   runs that calls it, and leave both there while they take turns.
// - A forked child has none of its parent's threads; it forgets the crew and raises its own.
// - The crew is never dismissed: it holds nothing of Python's, and goes when the process ends.
#include "threads.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#endif

namespace {

inline void breathe() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

constexpr int SPINS = 4000;   // some 100 microseconds: the next piece of work often comes soon
constexpr int YIELDS = 200;   // and then as long again, while nobody else wants the processor

thread_local bool inside = false;  // of a piece of work

struct Work {
    struct alignas(64) Part {
        std::atomic<I> taken{0};
        I begin = 0, end = 0;
    };
    I chunk;
    bool backwards;
    int crew;  // who shares is number 0 of them
    void* what;
    Piece piece;
    std::vector<Part> parts;
    std::atomic<bool> failed{false};
    std::exception_ptr error{};  // of the first piece that failed; the one who shares raises it

    Work(I n, I chunk, bool backwards, int crew, void* what, Piece piece)
        : chunk(chunk), backwards(backwards), crew(crew), what(what), piece(piece), parts(crew) {
        I size = (n + crew - 1) / crew;
        if (size > 64) size = (size + 63) / 64 * 64;  // no two threads write to one line of cache
        for (int i = 0; i < crew; i++) {
            parts[i].begin = std::min(n, i * size);
            parts[i].end = std::min(n, (i + 1) * size);
        }
    }
    void help(int number) {
        inside = true;
        try {
            for (int i = 0; i < crew; i++) {
                Part& part = parts[(number + i) % crew];
                I pieces = (part.end - part.begin + chunk - 1) / chunk;
                for (I k; (k = part.taken.fetch_add(1)) < pieces;) {
                    I begin = part.begin + (backwards ? pieces - 1 - k : k) * chunk;
                    piece(what, begin, std::min(part.end, begin + chunk));
                }
            }
        } catch (...) {
            if (!failed.exchange(true)) error = std::current_exception();
        }
        inside = false;
    }
};

struct Crew {
    std::mutex in_use, door;
    std::condition_variable bell;
    Work* work = nullptr;          // behind the door
    int asleep = 0;                // behind the door
    std::atomic<unsigned> rings{0};
    std::atomic<int> busy{0};
    int size = 0;                  // by whoever has the crew in use
    bool backwards = false;        // likewise
#if defined(__linux__)
    std::vector<pthread_t> members;  // likewise
    int elsewhere = -1;              // likewise: the processor that they are kept off

    void keep_apart() {
        int here = sched_getcpu();
        if (here < 0 || here == elsewhere) return;
        cpu_set_t others;
        if (sched_getaffinity(getpid(), sizeof others, &others)) return;
        CPU_CLR(here, &others);
        elsewhere = here;
        if (!CPU_COUNT(&others)) return;
        for (pthread_t member : members) pthread_setaffinity_np(member, sizeof others, &others);
    }
#else
    void keep_apart() {}
#endif

    void live(int number) {
        unsigned heard = 0;
        for (;;) {
            for (int i = 0; i < SPINS + YIELDS && rings.load(std::memory_order_acquire) == heard; i++) {
                if (i < SPINS) breathe();
                else std::this_thread::yield();
            }
            Work* mine = nullptr;
            {
                std::unique_lock<std::mutex> lock(door);
                if (rings.load() == heard) {
                    asleep++;
                    bell.wait(lock, [&] { return rings.load() != heard; });
                    asleep--;
                }
                heard = rings.load();
                if (work && number < work->crew) {
                    busy++;
                    mine = work;
                }
            }
            if (mine) {
                mine->help(number);
                busy.fetch_sub(1, std::memory_order_release);
            }
        }
    }

    void grow(int helpers) {
        for (; size < helpers; size++) {
            try {
                std::thread made([this, number = size + 1] { live(number); });
#if defined(__linux__)
                members.push_back(made.native_handle());
                elsewhere = -1;
#endif
                made.detach();
            } catch (const std::system_error&) {
                return;  // no more threads to be had: fewer do it
            }
        }
    }

    void run(Work& given) {
        grow(given.crew - 1);
        keep_apart();
        bool ring;
        {
            std::lock_guard<std::mutex> lock(door);
            work = &given;
            rings.fetch_add(1, std::memory_order_release);
            ring = asleep > 0;
        }
        if (ring) bell.notify_all();
        given.help(0);
        {
            std::lock_guard<std::mutex> lock(door);
            work = nullptr;
        }
        for (int i = 0; busy.load(std::memory_order_acquire); i++) {
            if (i < SPINS) breathe();
            else std::this_thread::yield();
        }
    }
};

int allowed() {  // processors that this process may use, or what OMP_NUM_THREADS says
    const char* asked = std::getenv("OMP_NUM_THREADS");
    int n = asked ? std::atoi(asked) : 0;
    if (n > 0) return n;
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(getpid(), sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1, int(std::thread::hardware_concurrency()));
}

std::atomic<int> limit{0};
std::atomic<Crew*> crew{nullptr};

Crew& the_crew() {
    Crew* found = crew.load();
    if (!found) {
        Crew* made = new Crew;
        if (crew.compare_exchange_strong(found, made)) {
#if defined(__unix__) || defined(__APPLE__)
            static std::once_flag once;
            std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { crew = nullptr; }); });
#endif
            return *made;
        }
        delete made;
    }
    return *found;
}

}  // namespace

int threads() {
    if (inside) return 1;
    int n = limit.load(std::memory_order_relaxed);
    if (!n) limit = n = allowed();
    return n;
}

void set_threads(int n) { limit = std::max(1, n); }

void share(I n, I chunk, void* what, Piece piece) {
    I pieces = (n + chunk - 1) / chunk;
    int together = int(std::min<I>(threads(), pieces));
    if (together > 1) {
        Crew& all = the_crew();
        std::unique_lock<std::mutex> mine(all.in_use, std::try_to_lock);
        if (mine.owns_lock()) {
            Work work(n, chunk, all.backwards = !all.backwards, together, what, piece);
            all.run(work);
            if (work.error) std::rethrow_exception(work.error);
            return;
        }
    }
    thread_local bool last = false;
    const bool backwards = last = !last;  // of this work: a piece may share out work of its own
    for (I k = 0; k < pieces; k++) {
        I begin = (backwards ? pieces - 1 - k : k) * chunk;
        piece(what, begin, std::min(n, begin + chunk));
    }
}
