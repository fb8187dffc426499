// The contestant's process for solutions with a C interface: maps the arrays, calls `solution` at each "go" and answers.
// It is linked with the solution and with the generated `podium_call`, and knows neither seeds nor expected values.
// The messages are those of messages.py. Nothing of C++'s library is used: this is compiled for every solution.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

extern "C" void podium_call(void* const* arguments);   // casts the arguments and calls `solution`
extern "C" void podium_setup(void* const* arguments);  // calls `setup`, if the solution has one, with those it gets
extern "C" {
size_t podium_sizes[64];  // of the arrays that may be written, in bytes; 0 for all other arguments
}

namespace {

struct Head {
    char magic[4];
    uint8_t kind, count, device, unused;
    uint64_t index;
};
struct Argument {
    uint8_t kind, is_writable, n_dimensions, unused[5];
    uint64_t offset, size, mapped, shape[8];
    unsigned char scalar[8];
};
static_assert(sizeof(Head) == 16 && sizeof(Argument) == 104, "as messages.py packs them");

constexpr int kMostArguments = 64, kMostSets = 64;
constexpr uint8_t kScalar = 1, kAsFirst = 2;

int channel = -1;

void say(char kind, uint64_t index, const void* content = nullptr, size_t length = 0) {
    char message[sizeof(Head) + 512];
    Head head{{'P', 'D', 'F', '1'}, static_cast<uint8_t>(kind), 0, 0, 0, index};
    memcpy(message, &head, sizeof head);
    if (length > 0) memcpy(message + sizeof head, content, length);
    if (send(channel, message, sizeof head + length, MSG_NOSIGNAL) < 0) _exit(3);
}

[[noreturn]] void give_up(const char* what, const char* why) {
    char words[500];
    snprintf(words, sizeof words, "%s: %s", what, why);
    say('X', 0, words, strnlen(words, sizeof words));
    _exit(4);
}

// ---- the driver, loaded only where the problem is one for a GPU ----------------------------------------------------

using Pointer = unsigned long long;
struct Access {
    int location_type, location_id, flags;
};
struct Driver {
    int (*init)(unsigned) = nullptr;
    int (*retain)(void**, int) = nullptr;
    int (*set_current)(void*) = nullptr;
    int (*synchronize)() = nullptr;
    int (*error_name)(int, const char**) = nullptr;
    int (*import_handle)(unsigned long long*, void*, int) = nullptr;
    int (*reserve)(Pointer*, size_t, size_t, Pointer, unsigned long long) = nullptr;
    int (*map)(Pointer, size_t, size_t, unsigned long long, unsigned long long) = nullptr;
    int (*set_access)(Pointer, size_t, const Access*, size_t) = nullptr;
    int (*unmap)(Pointer, size_t) = nullptr;
    int (*release)(unsigned long long) = nullptr;
    int (*address_free)(Pointer, size_t) = nullptr;
    int (*wait_word)(void*, Pointer, uint32_t, unsigned) = nullptr;
    int (*write_word)(void*, Pointer, uint32_t, unsigned) = nullptr;
};
Driver driver;
bool on_gpu = false;
Pointer go_word = 0, done_word = 0;  // of a hand-off

void must(int status, const char* what) {
    if (status == 0) return;
    const char* name = "unknown error";
    driver.error_name(status, &name);
    give_up(what, name);
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) give_up("the CUDA driver lacks", name);
}

void open_driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) give_up("no CUDA driver", dlerror());
    find(library, "cuInit", driver.init);
    find(library, "cuDevicePrimaryCtxRetain", driver.retain);
    find(library, "cuCtxSetCurrent", driver.set_current);
    find(library, "cuCtxSynchronize", driver.synchronize);
    find(library, "cuGetErrorName", driver.error_name);
    find(library, "cuMemImportFromShareableHandle", driver.import_handle);
    find(library, "cuMemAddressReserve", driver.reserve);
    find(library, "cuMemMap", driver.map);
    find(library, "cuMemSetAccess", driver.set_access);
    find(library, "cuMemUnmap", driver.unmap);
    find(library, "cuMemRelease", driver.release);
    find(library, "cuMemAddressFree", driver.address_free);
    find(library, "cuStreamWaitValue32_v2", driver.wait_word);
    find(library, "cuStreamWriteValue32_v2", driver.write_word);
    void* context = nullptr;
    must(driver.init(0), "cuInit");
    must(driver.retain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(driver.set_current(context), "cuCtxSetCurrent");
    on_gpu = true;
}

// ---- the arguments of a case ---------------------------------------------------------------------------------------

struct Mapping {
    void* start = nullptr;
    size_t size = 0;
};
Mapping mappings[kMostSets * kMostArguments];
int n_mappings = 0;
alignas(8) unsigned char scalars[kMostArguments][8];  // the same in all sets of a case
void* values[kMostSets][kMostArguments];

Pointer map_on_gpu(int file, size_t size, bool is_writable) {
    unsigned long long handle = 0;
    Pointer start = 0;
    must(driver.import_handle(&handle, reinterpret_cast<void*>(static_cast<intptr_t>(file)), 1), "import of an array");
    must(driver.reserve(&start, size, 0, 0, 0), "cuMemAddressReserve");
    must(driver.map(start, size, 0, handle, 0), "cuMemMap");
    const Access access{1, 0, is_writable ? 3 : 1};
    must(driver.set_access(start, size, &access, 1), "cuMemSetAccess");
    must(driver.release(handle), "cuMemRelease");  // the mapping keeps the memory
    return start;
}

void* map_array(int file, const Argument& wanted) {
    const int rights = wanted.is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void* start = on_gpu ? reinterpret_cast<void*>(map_on_gpu(file, wanted.mapped, wanted.is_writable))
                         : mmap(nullptr, wanted.mapped, rights, MAP_SHARED | MAP_POPULATE, file, 0);
    if (start == MAP_FAILED) give_up("an array cannot be mapped", strerror(errno));
    close(file);
    mappings[n_mappings++] = {start, wanted.mapped};
    return static_cast<char*>(start) + wanted.offset;
}

void drop_arrays() {
    for (; n_mappings > 0; --n_mappings) {
        const Mapping& one = mappings[n_mappings - 1];
        if (!on_gpu) munmap(one.start, one.size);
        else {
            driver.unmap(reinterpret_cast<Pointer>(one.start), one.size);
            driver.address_free(reinterpret_cast<Pointer>(one.start), one.size);
        }
    }
}

void take_arguments(const char* message, int count, uint64_t set, const int* files) {
    if (set == 0) {
        drop_arrays();
        memset(podium_sizes, 0, sizeof podium_sizes);
    }
    for (int index = 0; index < count; ++index) {
        Argument wanted;
        memcpy(&wanted, message + sizeof(Head) + static_cast<size_t>(index) * sizeof wanted, sizeof wanted);
        if (wanted.kind == kScalar) {
            memcpy(scalars[index], wanted.scalar, sizeof wanted.scalar);
            values[set][index] = scalars[index];
        } else if (wanted.kind == kAsFirst) {
            values[set][index] = values[0][index];
        } else {
            values[set][index] = map_array(*files++, wanted);
            if (wanted.is_writable) podium_sizes[index] = wanted.size;
        }
    }
}

ssize_t receive(char* message, size_t size, int* files) {
    iovec part{message, size};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostArguments)];
    msghdr envelope{};
    envelope.msg_iov = &part;
    envelope.msg_iovlen = 1;
    envelope.msg_control = control;
    envelope.msg_controllen = sizeof control;
    ssize_t got;
    do got = recvmsg(channel, &envelope, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    const cmsghdr* first = CMSG_FIRSTHDR(&envelope);
    if (first != nullptr && first->cmsg_type == SCM_RIGHTS)
        memcpy(files, CMSG_DATA(first), first->cmsg_len - CMSG_LEN(0));
    return got;
}

void finish() {
    if (on_gpu) must(driver.synchronize(), "the solution's kernels failed");
}

void call(uint64_t index, int first, int n_sets, void (*function)(void* const*)) {
    for (int set = first; set < first + n_sets; ++set) function(values[set]);
    finish();
    say('d', index);
}

// Queues the work behind the checker's word, in the default stream.
void hand_off(uint64_t index, bool word_last) {
    const auto word = static_cast<uint32_t>(index);
    must(driver.wait_word(nullptr, go_word, word, 1), "cuStreamWaitValue32");
    if (!word_last) must(driver.write_word(nullptr, done_word, word, 0), "cuStreamWriteValue32");
    podium_call(values[0]);
    if (word_last) must(driver.write_word(nullptr, done_word, word, 0), "cuStreamWriteValue32");
    say('q', index);
    finish();
    say('d', index);
}

}  // namespace

int main() {
    setvbuf(stdout, nullptr, _IOLBF, 0);  // the process is killed in the end, with what it has not written
    const char* named = getenv("PODIUM_CHANNEL_FD");
    channel = named == nullptr ? -1 : atoi(named);
    const char* arrays = getenv("PODIUM_FUNCTION_ARRAYS");
    if (arrays != nullptr && strstr(arrays, "cuda") != nullptr) open_driver();
    say('L', 0);
    static char message[sizeof(Head) + kMostArguments * sizeof(Argument)];
    int files[kMostArguments];
    while (receive(message, sizeof message, files) > 0) {
        Head head;
        memcpy(&head, message, sizeof head);
        if (head.kind == 'G' && head.device + head.count <= kMostSets)
            call(head.index, head.device, head.count, podium_call);
        else if (head.kind == 'H' && on_gpu) hand_off(head.index, head.device);
        else if (head.kind == 'W' && on_gpu) {
            go_word = map_on_gpu(files[0], head.index, false);
            done_word = map_on_gpu(files[1], head.index, true);
            for (int file = 0; file < 2; ++file) close(files[file]);
            say('M', 0);
        } else if (head.kind == 'S') call(head.index, 0, 1, podium_setup);
        else if (head.kind == 'D') drop_arrays();
        else if (head.kind == 'A' && head.count <= kMostArguments && head.index < kMostSets) {
            take_arguments(message, head.count, head.index, files);
            say('M', 0);
        }
    }
    fflush(stdout);
    _exit(0);
}
