// The few facts the witness needs of an ELF file. The file is the contestant's: every offset is checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <functional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

struct Range {
    uint64_t start = 0, end = 0;
};

// What the agent read in the sources: it tells the harness's code in a program from the solution's.
struct SourceFacts {
    std::set<std::string> harness_files;      // names without folder and suffix
    std::set<std::string> solution_files;     // empty where a program without harness files may still be the harness
    std::set<std::string> harness_functions;  // functions that only the harness can have defined; `main`: it has parts
    bool is_mixed = false;                    // the harness's functions may hold the solution's calls of ends
};

enum class Owner { unknown, harness, main, library };

struct Function {
    Range range;
    Owner owner = Owner::unknown;
    size_t name = 0;  // a hash, equal for the parts that a compiler splits off
};

// A function that ends the calling process or, without a status, its first thread.
struct End {
    uint64_t address;
    bool has_status;
};

struct ElfFacts {
    bool readable = false;      // a 64-bit ELF file whose headers could be read
    bool is_excessive = false;  // more names than any honest program's: reading all would keep the supervisor busy
    uint64_t entry = 0;
    Range main;                       // start 0: the file names no `main`
    std::vector<Function> functions;  // not of libraries; by their starts
    uint64_t name_bytes = 0;
    std::vector<End> ends;
    bool has_harness_file = false, has_solution_file = false;
};

constexpr uint64_t kLargestTable = 256u << 20, kMostNameBytes = 128u << 20, kMostFunctions = 1u << 20,
                   kLongestName = 4096;

inline bool read_at(int file, uint64_t offset, void* into, uint64_t size) {
    return pread(file, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

template <typename Item>
inline std::vector<Item> read_table(int file, uint64_t offset, uint64_t bytes) {
    struct stat facts{};
    std::vector<Item> table;
    uint64_t size = fstat(file, &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
    if (bytes > kLargestTable || offset > size || bytes > size - offset) return table;
    table.resize(bytes / sizeof(Item));
    if (!read_at(file, offset, table.data(), table.size() * sizeof(Item))) table.clear();
    return table;
}

inline const char* name_at(const std::vector<char>& names, uint32_t offset) {
    if (offset >= names.size()) return "";
    return memchr(&names[offset], 0, std::min<uint64_t>(names.size() - offset, kLongestName)) ? &names[offset] : "";
}

// The name of a source file without folder and suffix, also where nvcc put it into the name of a file of its own.
inline std::string source_stem(const std::string& name) {
    size_t made = name.find(".cudafe1."), dash = name.find('-'), start = name.rfind('/') + 1;
    if (made != std::string::npos && dash < made) {
        size_t number_end = name.find('_', dash);
        return number_end < made ? name.substr(number_end + 1, made - number_end - 1) : "";
    }
    return name.substr(start, name.find_last_of('.') - start);
}

// The last plain name in a symbol: `finish` of `_ZL6finishi`, of `_ZN3one6finishEv` and of a lambda inside `finish`.
inline std::string source_name(const std::string& symbol) {
    std::string name = symbol.substr(0, symbol.find('.', 1)), last;
    if (name.compare(0, 2, "_Z") != 0) return name;
    size_t at = 2;
    while (at < name.size() && strchr("ZLNVKSt", name[at]) != nullptr) ++at;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9') {
        size_t length = 0;
        for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && length < name.size(); ++at)
            length = 10 * length + static_cast<size_t>(name[at] - '0');
        if (length > name.size() - at) return "";
        last = name.substr(at, length);
        at += length;
        if (at < name.size() && name[at] == 'L') ++at;
    }
    return last;
}

// What a static program calls to end itself, by all names that the C library gives it.
inline bool is_library_s(const std::string& name) {
    static const std::set<std::string> names{
        "_exit",          "_Exit",    "exit",   "quick_exit", "__new_quick_exit", "pthread_exit",
        "__pthread_exit", "syscall",  "execl",  "execle",     "execlp",           "execv",
        "execve",         "__execve", "execvp", "execvpe",    "__execvpe",        "fexecve"};
    return names.count(name) != 0;
}

inline Owner owner_of(const std::string& symbol, const SourceFacts& sources) {
    bool may_have_parts = sources.harness_functions.count("main") != 0;
    if (symbol == "main" || (may_have_parts && symbol.compare(0, 5, "main.") == 0)) return Owner::main;
    if (is_library_s(symbol)) return Owner::library;
    bool inside_main = may_have_parts && symbol.compare(0, 8, "_ZZ4main") == 0;
    return inside_main || sources.harness_functions.count(source_name(symbol)) ? Owner::harness : Owner::unknown;
}

inline void note_end(ElfFacts& facts, const char* name, uint64_t address) {
    bool has_status = strcmp(name, "exit") == 0 || strcmp(name, "quick_exit") == 0;
    if (has_status || strcmp(name, "pthread_exit") == 0) facts.ends.push_back({address, has_status});
}

inline void note_file(ElfFacts& facts, const std::string& name, const SourceFacts& sources) {
    std::string stem = source_stem(name);
    if (sources.harness_files.count(stem)) facts.has_harness_file = true;
    else if (sources.solution_files.count(stem)) facts.has_solution_file = true;
}

// `sources` is null for a library, of which only the ends matter.
inline void note_symbol(ElfFacts& facts, const Elf64_Sym& symbol, const std::vector<char>& names,
                        const SourceFacts* sources) {
    bool is_file = ELF64_ST_TYPE(symbol.st_info) == STT_FILE && sources != nullptr;
    if (!is_file && (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)) return;
    const char* name = name_at(names, symbol.st_name);
    facts.name_bytes += strlen(name) + 1;
    facts.is_excessive = facts.name_bytes > kMostNameBytes || facts.functions.size() >= kMostFunctions;
    if (facts.is_excessive) return;
    if (is_file) return note_file(facts, name, *sources);
    note_end(facts, name, symbol.st_value);
    if (sources == nullptr) return;
    Range range{symbol.st_value, symbol.st_value + symbol.st_size};
    bool is_other_main = strcmp(name, "main") == 0 && ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
    size_t whole = std::hash<std::string>()(std::string(name).substr(0, std::string(name).find('.', 1)));
    facts.functions.push_back({range, is_other_main ? Owner::unknown : owner_of(name, *sources), whole});
    if (strcmp(name, "main") == 0 && !is_other_main) facts.main = range;
}

inline void read_symbols(int file, const std::vector<Elf64_Shdr>& sections, const Elf64_Shdr& table, ElfFacts& facts,
                         const SourceFacts* sources) {
    if (table.sh_link >= sections.size()) return;
    const Elf64_Shdr& strings = sections[table.sh_link];
    std::vector<char> names = read_table<char>(file, strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol : read_table<Elf64_Sym>(file, table.sh_offset, table.sh_size)) {
        if (facts.is_excessive) return;
        note_symbol(facts, symbol, names, sources);
    }
}

inline ElfFacts read_elf(int file, const SourceFacts* sources) {
    ElfFacts facts;
    Elf64_Ehdr header{};
    if (!read_at(file, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return facts;
    if (header.e_ident[EI_CLASS] != ELFCLASS64) return facts;
    facts.readable = true;
    facts.entry = header.e_entry;
    if (header.e_shentsize != sizeof(Elf64_Shdr)) return facts;
    auto sections = read_table<Elf64_Shdr>(file, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
    for (unsigned type : {SHT_SYMTAB, SHT_DYNSYM}) {  // a file has one of each; reading more could take hours
        auto table =
            std::find_if(sections.begin(), sections.end(), [&](auto& section) { return section.sh_type == type; });
        if (table != sections.end()) read_symbols(file, sections, *table, facts, sources);
    }
    std::sort(facts.functions.begin(), facts.functions.end(),
              [](const Function& one, const Function& other) { return one.range.start < other.range.start; });
    return facts;
}
