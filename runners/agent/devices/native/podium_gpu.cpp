// podium-gpu: scrubs a GPU's memory, runs the golden program, measures a GPU's peaks. One JSON object on standard output.
//
//   podium-gpu scrub [--fill WORD | --find WORD]
//   podium-gpu golden
//   podium-gpu peaks [--libraries FOLDER]…
//   podium-gpu ptx
//
// It works on the one device that CUDA_VISIBLE_DEVICES leaves visible. On an error it writes a message to standard error
// and returns 1. The caller must set a time limit, because a device that hangs never answers.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "device.h"
#include "products.h"

namespace podium {
namespace {

constexpr size_t kGrainBytes = size_t{2} << 20;
constexpr uint64_t kScrubWord = 0x5C5C5C5C5C5C5C5C;
constexpr int kGoldenRuns = 6, kGoldenTurns = 15000, kGoldenCopies = 8;
constexpr unsigned kGoldenBlocksEach = 4;
constexpr size_t kGoldenBytes = size_t{1} << 30;
constexpr double kWarmUpMs = 300;
constexpr size_t kPeakCopyBytes = size_t{4} << 30;
constexpr int64_t kProductSize = 8192;
constexpr double kLongProductMs = 150;

struct Chunk {
    Address at;
    size_t bytes;
};

double now_ms() {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string json(const std::vector<double>& values) {
    std::string text;
    for (const double value : values) {
        char one[32];
        std::snprintf(one, sizeof one, "%s%.6g", text.empty() ? "" : ", ", value);
        text += one;
    }
    return "[" + text + "]";
}

size_t whole_grains(size_t bytes) { return bytes / kGrainBytes * kGrainBytes; }

// Allocates nearly all free memory, in chunks as large as possible, down to the smallest that the driver gives.
std::vector<Chunk> take_all_memory(const Device& device) {
    std::vector<Chunk> chunks;
    size_t wanted = whole_grains(device.free_bytes());
    while (wanted >= kGrainBytes) {
        const Address at = device.try_allocate(wanted);
        if (at) chunks.push_back({at, wanted});
        wanted = whole_grains(at ? std::min(wanted, device.free_bytes()) : wanted / 2);
    }
    return chunks;
}

size_t total_bytes(const std::vector<Chunk>& chunks) {
    size_t bytes = 0;
    for (const Chunk& chunk : chunks) bytes += chunk.bytes;
    return bytes;
}

void fill_all(const Device& device, const std::vector<Chunk>& chunks, uint64_t word) {
    for (const Chunk& chunk : chunks) device.fill(chunk.at, chunk.bytes, word);
    device.finish("filling memory");
}

uint64_t count_all(const Device& device, const std::vector<Chunk>& chunks, uint64_t word) {
    uint64_t found = 0;
    for (const Chunk& chunk : chunks) found += device.count(chunk.at, chunk.bytes, word);
    return found;
}

// Overwrites all free memory, checks that it holds what was written, and leaves it zero.
void scrub() {
    const double begun = now_ms();
    const Device device;
    const std::vector<Chunk> chunks = take_all_memory(device);
    const size_t bytes = total_bytes(chunks);
    fill_all(device, chunks, kScrubWord);
    const uint64_t held = count_all(device, chunks, kScrubWord);
    if (held != bytes / 8)
        throw Failure("memory does not hold the written values: " + std::to_string(bytes / 8 - held) + " of " +
                      std::to_string(bytes / 8) + " words were wrong");
    fill_all(device, chunks, 0);
    for (const Chunk& chunk : chunks) device.release(chunk.at);
    std::printf("{\"bytes\": %zu, \"chunks\": %zu, \"ms\": %.3f}\n", bytes, chunks.size(), now_ms() - begun);
}

// Fills all free memory with `word` and leaves it there, as a careless program does.
void fill_with(uint64_t word) {
    const Device device;
    const std::vector<Chunk> chunks = take_all_memory(device);
    fill_all(device, chunks, word);
    std::printf("{\"bytes\": %zu}\n", total_bytes(chunks));
}

// Counts `word` in memory that was allocated and not written to.
void find_word(uint64_t word) {
    const Device device;
    const std::vector<Chunk> chunks = take_all_memory(device);
    const unsigned long long found = count_all(device, chunks, word);
    std::printf("{\"bytes\": %zu, \"found\": %llu}\n", total_bytes(chunks), found);
}

uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The result of the kernel `logistic` in each of the 32 lanes, computed by this machine's processor.
std::vector<uint32_t> expected_lanes(int turns) {
    float growth;
    std::memcpy(&growth, &kGrowthBits, sizeof growth);
    std::vector<uint32_t> lanes(32, 0);
    for (int lane = 0; lane < 32; ++lane)
        for (int chain = 0; chain < kChains; ++chain) {
            float x = static_cast<float>(8 * lane + chain + 1) / 512;
            for (int link = 0; link < turns * kLogisticUnroll; ++link) {
                const float t = growth * x;
                x = std::fma(-t, x, t);
            }
            lanes[lane] ^= bits_of(x);
        }
    return lanes;
}

void check_golden(const Device& device, Address words, size_t n_words) {
    std::vector<uint32_t> got(n_words);
    device.cuda.check(device.cuda.to_host(got.data(), words, n_words * 4), "reading the golden program's result");
    const std::vector<uint32_t> expected = expected_lanes(kGoldenTurns);
    size_t wrong = 0;
    for (size_t i = 0; i < n_words; ++i) wrong += got[i] != expected[i % 32];
    if (wrong)
        throw Failure("the golden program computed wrongly: " + std::to_string(wrong) + " of " +
                      std::to_string(n_words) + " results differ from the processor's");
}

// Repeats `work` for a while, because an idle device is slow at first.
void warm_up(const Device& device, const std::function<void()>& work) {
    const double begun = now_ms();
    while (now_ms() - begun < kWarmUpMs) device.time_ms(work);
}

std::vector<double> golden_compute(const Device& device) {
    const unsigned blocks = device.blocks(kGoldenBlocksEach);
    const size_t n_words = size_t{blocks} * kThreads;
    const Address words = device.allocate(n_words * 4);
    const auto once = [&] { device.launch("logistic", blocks, words, kGoldenTurns); };
    warm_up(device, once);
    const std::vector<double> taken = device.times_ms(kGoldenRuns, once);
    check_golden(device, words, n_words);
    device.release(words);
    return taken;
}

// Times of one copy, in milliseconds. Eight copies are timed together to make the time long enough.
std::vector<double> golden_copy(const Device& device) {
    const size_t bytes = std::min(kGoldenBytes, whole_grains(device.free_bytes() / 4));
    const Address from = device.allocate(bytes), to = device.allocate(bytes);
    device.noise(from, bytes, ~uint64_t{0}, 0);
    const auto copies = [&] {
        for (int i = 0; i < kGoldenCopies; ++i) device.copy(to, from, bytes);
    };
    device.time_ms(copies);
    std::vector<double> taken = device.times_ms(kGoldenRuns, copies);
    for (double& one : taken) one /= kGoldenCopies;
    if (const uint64_t wrong = device.differing(from, to, bytes))
        throw Failure("the golden copy is wrong: " + std::to_string(wrong) + " words differ");
    device.release(from);
    device.release(to);
    return taken;
}

void golden() {
    const Device device;
    const std::vector<double> compute = golden_compute(device), copy = golden_copy(device);
    std::printf("{\"compute_ms\": %s, \"copy_ms\": %s}\n", json(compute).c_str(), json(copy).c_str());
}

double peak_of(const Device& device, double amount, const std::function<void()>& work) {
    device.times_ms(kWarmUps, work);
    return amount / (median(device.times_ms(kTimed, work)) * 1e6);  // 1e9 a second
}

struct Bandwidths {
    double copy_gbps, read_gbps;
};

Bandwidths bandwidths(const Device& device) {
    const size_t bytes = std::min(kPeakCopyBytes, whole_grains(device.free_bytes() / 4));
    const Address from = device.allocate(bytes), to = device.allocate(bytes);
    device.noise(from, bytes, ~uint64_t{0}, 0);
    const double copied = peak_of(device, 2.0 * bytes, [&] { device.copy(to, from, bytes); });
    const double read = peak_of(device, 1.0 * bytes, [&] { device.start_count(from, bytes, kScrubWord); });
    device.release(from);
    device.release(to);
    return {copied, read};
}

struct Best {
    double gflops;
    std::string how;
};
using Peaks = std::map<std::string, Best>;

void keep(Peaks& peaks, const std::string& name, double gflops, const std::string& how) {
    if (gflops > peaks[name].gflops) peaks[name] = {gflops, how};
}

// Measures the arithmetic units alone: chains of fused multiply-adds, which move no data.
void chain_peaks(const Device& device, Peaks& peaks) {
    const unsigned blocks = device.blocks();
    const Address words = device.allocate(size_t{blocks} * kThreads * 4);
    warm_up(device, [&] { device.launch("fma32", blocks, words, 1024); });
    const auto measure = [&](const char* kernel, int turns) {
        const double flops = 2.0 * blocks * kThreads * turns * kFmaUnroll * kChains;
        return peak_of(device, flops, [&] { device.launch(kernel, blocks, words, turns); });
    };
    keep(peaks, "fp32", measure("fma32", 8192), "fused multiply-adds");
    keep(peaks, "fp64", measure("fma64", 1024), "fused multiply-adds");
    device.finish("the multiply-add kernels");
    device.release(words);
}

// Returns cuBLAS's status. Other than 0, cuBLAS does not support this type here.
int product_peak(const Device& device, Blas& blas, const Product& product, Peaks& peaks) {
    int64_t n = kProductSize;
    while (n > 1024 && 3 * n * n * 8 + kWorkspaceBytes > device.free_bytes() / 2) n /= 2;
    const size_t in_bytes = n * n * product.input_bytes;
    const Address a = device.allocate(in_bytes), b = device.allocate(in_bytes);
    const Address c = device.allocate(n * n * product.output_bytes), workspace = device.allocate(kWorkspaceBytes);
    device.noise(a, in_bytes, product.keep, product.set);
    device.noise(b, in_bytes, product.keep, product.set);
    int status = kSuccess;
    const auto once = [&] { status = blas.start(product, n, a, b, c, workspace); };
    once();
    device.finish(product.name);
    if (status == kSuccess && product.input != kFloat8 && device.time_ms(once) > kLongProductMs) n = 2048;
    if (status == kSuccess) {
        const double gflops = peak_of(device, 2.0 * n * n * n, once);
        if (status == kSuccess)
            keep(peaks, product.name, gflops, blas.version() + " matrix product, n = " + std::to_string(n));
    }
    device.finish(product.name);
    for (const Address at : {a, b, c, workspace}) device.release(at);
    return status;
}

std::string json(const Peaks& peaks) {
    std::string gflops, how;
    for (const auto& [name, best] : peaks) {
        const char* comma = gflops.empty() ? "" : ", ";
        char number[32];
        std::snprintf(number, sizeof number, "%.6g", best.gflops);
        gflops += comma + ("\"" + name + "\": ") + number;
        how += comma + ("\"" + name + "\": \"") + best.how + "\"";
    }
    return "\"gflops\": {" + gflops + "}, \"how\": {" + how + "}";
}

void peaks(const std::vector<std::string>& folders) {
    const Device device;
    Peaks best;
    chain_peaks(device, best);
    const Bandwidths memory = bandwidths(device);
    std::string missing;
    if (const auto blas = Blas::open(folders)) {
        for (const Product& product : products())
            if (const int status = product_peak(device, *blas, product, best))
                missing += (missing.empty() ? "" : ", ") + std::string("\"") + product.name + "\": \"" +
                           blas->version() + " status " + std::to_string(status) + "\"";
    } else {
        missing = "\"products\": \"no cuBLAS works here, so only fused multiply-adds were measured\"";
    }
    std::printf("{\"gbps\": %.6g, \"read_gbps\": %.6g, %s, \"missing\": {%s}, \"l2_bytes\": %d}\n", memory.copy_gbps,
                memory.read_gbps, json(best).c_str(), missing.c_str(), device.attribute(kL2Bytes));
}

uint64_t word_from(const char* text) {
    char* end = nullptr;
    const uint64_t word = std::strtoull(text, &end, 0);
    if (end == text || *end) throw Failure(std::string(text) + " is not a 64-bit word; write it as 0x5C5C5C5C5C5C5C5C");
    return word;
}

std::vector<std::string> folders_from(const std::vector<std::string>& arguments) {
    std::vector<std::string> folders;
    for (size_t i = 0; i + 1 < arguments.size() && arguments[i] == "--libraries"; i += 2)
        folders.push_back(arguments[i + 1]);
    if (2 * folders.size() != arguments.size()) throw Failure("peaks accepts only --libraries FOLDER");
    return folders;
}

void run(const std::string& command, const std::vector<std::string>& arguments) {
    const bool bare = arguments.empty(), pair = arguments.size() == 2;
    if (command == "scrub" && bare) return scrub();
    if (command == "scrub" && pair && arguments[0] == "--fill") return fill_with(word_from(arguments[1].c_str()));
    if (command == "scrub" && pair && arguments[0] == "--find") return find_word(word_from(arguments[1].c_str()));
    if (command == "golden" && bare) return golden();
    if (command == "peaks") return peaks(folders_from(arguments));
    if (command == "ptx" && bare) return static_cast<void>(std::fputs(all_kernels().c_str(), stdout));
    throw Failure("usage: podium-gpu scrub [--fill WORD | --find WORD] | golden | peaks [--libraries FOLDER]… | ptx");
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) {
    try {
        podium::run(argc > 1 ? argv[1] : "", {argv + std::min(argc, 2), argv + argc});
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "podium-gpu: %s\n", error.what());
        return 1;
    }
}
