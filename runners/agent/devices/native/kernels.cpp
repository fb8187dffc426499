#include "kernels.h"

namespace podium {
namespace {

std::string reg(const char* kind, int number) { return std::string("%") + kind + std::to_string(number); }

// d0: this thread's index, d1: threads in the grid.
std::string place() {
    return "mov.u32 %r0, %ctaid.x;\n"
           "mov.u32 %r1, %ntid.x;\n"
           "mov.u32 %r2, %tid.x;\n"
           "mov.u32 %r3, %nctaid.x;\n"
           "mul.wide.u32 %d0, %r0, %r1;\n"
           "cvt.u64.u32 %d2, %r2;\n"
           "add.u64 %d0, %d0, %d2;\n"
           "mul.wide.u32 %d1, %r3, %r1;\n";
}

// A kernel whose parameters are in d40, d41, … when `body` begins.
std::string kernel(const char* name, int n_parameters, const std::string& body) {
    std::string declared, loaded;
    for (int i = 0; i < n_parameters; ++i) {
        const std::string parameter = "p" + std::to_string(i);
        declared += (i ? ", .param .u64 " : ".param .u64 ") + parameter;
        loaded += "ld.param.u64 " + reg("d", 40 + i) + ", [" + parameter + "];\n";
    }
    return ".visible .entry " + std::string(name) + "(" + declared + ")\n{\n" +
           ".reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b64 %d<64>;\n.reg .f32 %f<32>;\n.reg .f64 %g<32>;\n" + loaded +
           place() + body + "ret;\n}\n";
}

// `work` for each pair of words below the count in d41; d3 is the pair's offset in bytes.
std::string for_each_pair(const std::string& work) {
    return "PAIR:\nsetp.ge.u64 %p0, %d0, %d41;\n@%p0 bra DONE;\nshl.b64 %d3, %d0, 4;\n" + work +
           "add.u64 %d0, %d0, %d1;\nbra PAIR;\nDONE:\n";
}

// fill(buffer, pairs, word)
std::string fill() {
    return kernel("fill", 3,
                  "cvta.to.global.u64 %d40, %d40;\n" +
                      for_each_pair("add.u64 %d4, %d40, %d3;\nst.global.v2.u64 [%d4], {%d42, %d42};\n"));
}

// Adds 1 to d5 if `compare` holds between the words in `have` and `want`.
std::string tally(const char* compare, const std::string& have, const std::string& want) {
    return "setp." + std::string(compare) + ".u64 %p1, " + have + ", " + want +
           ";\nselp.u64 %d6, 1, 0, %p1;\nadd.u64 %d5, %d5, %d6;\n";
}

// Adds d5 to the counter whose address is in `counter`.
std::string add_tally(const std::string& counter) {
    return "setp.eq.u64 %p1, %d5, 0;\n@%p1 bra END;\ncvta.to.global.u64 %d7, " + counter +
           ";\nred.global.add.u64 [%d7], %d5;\nEND:\n";
}

// count(buffer, pairs, word, counter): how many words equal `word`. Reads four pairs at a time, to be as fast as memory.
std::string count() {
    std::string loads, tallies;
    for (int i = 0; i < 4; ++i) {
        const std::string low = reg("d", 16 + 2 * i), high = reg("d", 17 + 2 * i);
        loads += "ld.global.v2.u64 {" + low + ", " + high + "}, [%d4];\nadd.u64 %d4, %d4, %d8;\n";
        tallies += tally("eq", low, "%d42") + tally("eq", high, "%d42");
    }
    const std::string four =
        "mul.lo.u64 %d9, %d1, 3;\nshl.b64 %d8, %d1, 4;\n"
        "FOUR:\nadd.u64 %d10, %d0, %d9;\nsetp.ge.u64 %p0, %d10, %d41;\n@%p0 bra PAIR;\n"
        "shl.b64 %d3, %d0, 4;\nadd.u64 %d4, %d40, %d3;\n" +
        loads + tallies + "add.u64 %d0, %d10, %d1;\nbra FOUR;\n";
    const std::string one = "add.u64 %d4, %d40, %d3;\nld.global.v2.u64 {%d16, %d17}, [%d4];\n" +
                            tally("eq", "%d16", "%d42") + tally("eq", "%d17", "%d42");
    return kernel("count", 4,
                  "cvta.to.global.u64 %d40, %d40;\nmov.u64 %d5, 0;\n" + four + for_each_pair(one) + add_tally("%d43"));
}

// differ(one, pairs, other, counter): how many words of the two buffers are not equal.
std::string differ() {
    const std::string one =
        "add.u64 %d4, %d40, %d3;\nld.global.v2.u64 {%d16, %d17}, [%d4];\n"
        "add.u64 %d4, %d42, %d3;\nld.global.v2.u64 {%d18, %d19}, [%d4];\n" +
        tally("ne", "%d16", "%d18") + tally("ne", "%d17", "%d19");
    return kernel("differ", 4,
                  "cvta.to.global.u64 %d40, %d40;\ncvta.to.global.u64 %d42, %d42;\nmov.u64 %d5, 0;\n" +
                      for_each_pair(one) + add_tally("%d43"));
}

// The hash of `index` (splitmix64) into `word`, then `& d42 | d43`.
std::string random_word(const std::string& index, const std::string& word) {
    return "add.u64 " + word + ", " + index + ", 1;\nmul.lo.u64 " + word + ", " + word + ", %d20;\n" +
           "shr.u64 %d23, " + word + ", 30;\nxor.b64 " + word + ", " + word + ", %d23;\n" + "mul.lo.u64 " + word +
           ", " + word + ", %d21;\n" + "shr.u64 %d23, " + word + ", 27;\nxor.b64 " + word + ", " + word + ", %d23;\n" +
           "mul.lo.u64 " + word + ", " + word + ", %d22;\n" + "shr.u64 %d23, " + word + ", 31;\nxor.b64 " + word +
           ", " + word + ", %d23;\n" + "and.b64 " + word + ", " + word + ", %d42;\nor.b64 " + word + ", " + word +
           ", %d43;\n";
}

// noise(buffer, pairs, and, or): random bits, some cleared and some set, so that they are normal numbers of a data type.
std::string noise() {
    const std::string constants =
        "mov.u64 %d20, 0x9E3779B97F4A7C15;\nmov.u64 %d21, 0xBF58476D1CE4E5B9;\n"
        "mov.u64 %d22, 0x94D049BB133111EB;\n";
    const std::string pair = "shl.b64 %d24, %d0, 1;\n" + random_word("%d24", "%d25") + "add.u64 %d24, %d24, 1;\n" +
                             random_word("%d24", "%d26") +
                             "add.u64 %d4, %d40, %d3;\nst.global.v2.u64 [%d4], {%d25, %d26};\n";
    return kernel("noise", 4, "cvta.to.global.u64 %d40, %d40;\n" + constants + for_each_pair(pair));
}

// Repeats `turn` d41 times.
std::string repeated(const std::string& turn) {
    return "cvt.u32.u64 %r4, %d41;\nTURN:\n" + turn +
           "sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p0, %r4, 0;\n@%p0 bra TURN;\n";
}

// Stores r6 in this thread's 4-byte word of the buffer at d40.
std::string store_word() {
    return "cvta.to.global.u64 %d40, %d40;\nshl.b64 %d3, %d0, 2;\nadd.u64 %d4, %d40, %d3;\nst.global.u32 [%d4], %r6;\n";
}

// logistic(words, turns): kChains chains x = growth · x · (1 − x), begun at (8 · lane + chain + 1) / 512. Stores the
// exclusive or of their bits.
std::string logistic() {
    std::string begin = "and.b32 %r5, %r2, 31;\nshl.b32 %r5, %r5, 3;\nmov.f32 %f30, 0f407F5C29;\n", turn, end;
    for (int k = 0; k < kChains; ++k) {
        const std::string x = reg("f", k);
        begin += "add.u32 %r7, %r5, " + std::to_string(k + 1) + ";\ncvt.rn.f32.u32 " + x + ", %r7;\nmul.rn.f32 " + x +
                 ", " + x + ", 0f3B000000;\n";
        end += "mov.b32 %r7, " + x + ";\n" + (k ? "xor.b32 %r6, %r6, %r7;\n" : "mov.u32 %r6, %r7;\n");
    }
    for (int link = 0; link < kLogisticUnroll; ++link)
        for (int k = 0; k < kChains; ++k) {
            const std::string x = reg("f", k), t = reg("f", 8 + k), minus = reg("f", 16 + k);
            turn += "mul.rn.f32 " + t + ", %f30, " + x + ";\nneg.f32 " + minus + ", " + t + ";\nfma.rn.f32 " + x +
                    ", " + minus + ", " + x + ", " + t + ";\n";
        }
    return kernel("logistic", 2, begin + repeated(turn) + end + store_word());
}

// fma32 and fma64(words, turns): kChains chains x = a · x + b with kFmaUnroll links a turn. Stores their sum, so that the
// compiler keeps all chains.
std::string fma(const char* name, const char* type, const char* bank, const char* a, const char* b) {
    const std::string suffix = type, factor = reg(bank, 30), summand = reg(bank, 31), sum = reg(bank, 29);
    std::string begin =
        "mov." + suffix + " " + factor + ", " + a + ";\nmov." + suffix + " " + summand + ", " + b + ";\n";
    std::string turn, end = "mov." + suffix + " " + sum + ", " + summand + ";\n";
    for (int k = 0; k < kChains; ++k) {
        const std::string x = reg(bank, k);
        begin += "add.u32 %r7, %r2, " + std::to_string(k) + ";\ncvt.rn." + suffix + ".u32 " + x + ", %r7;\n";
        end += "add.rn." + suffix + " " + sum + ", " + sum + ", " + x + ";\n";
    }
    for (int link = 0; link < kFmaUnroll; ++link)
        for (int k = 0; k < kChains; ++k) {
            const std::string x = reg(bank, k);
            turn += "fma.rn." + suffix + " " + x + ", " + x + ", " + factor + ", " + summand + ";\n";
        }
    end += suffix == "f64" ? "cvt.rn.f32.f64 %f0, " + sum + ";\nmov.b32 %r6, %f0;\n" : "mov.b32 %r6, " + sum + ";\n";
    return kernel(name, 2, begin + repeated(turn) + end + store_word());
}

}  // namespace

std::string all_kernels() {
    return ".version 6.0\n.target sm_50\n.address_size 64\n" + fill() + count() + differ() + noise() + logistic() +
           fma("fma32", "f32", "f", "0f3F7FF972", "0f3A83126F") +  // 0.9999, 0.001
           fma("fma64", "f64", "g", "0d3FEFFF2E48E8A71E", "0d3F50624DD2F1A9FC");
}

}  // namespace podium
