// The few facts the witness needs of an ELF file. The file is the contestant's: every offset is checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

struct Range {
    uint64_t start = 0, end = 0;
};

struct ElfFacts {
    bool readable = false;  // a 64-bit ELF file whose headers could be read
    uint64_t entry = 0;
    Range main;             // start 0: the file names no `main`
    std::vector<Range> main_parts;  // pieces the compiler split off `main`
    uint64_t exit = 0;      // `exit` as this file defines it; 0 where it does not, or more than once
    int exits = 0;
};

constexpr uint64_t kLargestTable = 256u << 20;

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
    return memchr(&names[offset], 0, names.size() - offset) ? &names[offset] : "";
}

inline void note_symbol(ElfFacts& facts, const Elf64_Sym& symbol, const char* name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) return;
    Range range{symbol.st_value, symbol.st_value + symbol.st_size};
    if (strcmp(name, "main") == 0 && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL) facts.main = range;
    else if (strncmp(name, "main.", 5) == 0 && facts.main_parts.size() < 8) facts.main_parts.push_back(range);
    else if (strcmp(name, "exit") == 0 && facts.exit != symbol.st_value) facts.exit = ++facts.exits == 1 ? symbol.st_value : 0;
}

inline void read_symbols(int file, const std::vector<Elf64_Shdr>& sections, const Elf64_Shdr& table, ElfFacts& facts) {
    if (table.sh_link >= sections.size()) return;
    const Elf64_Shdr& strings = sections[table.sh_link];
    std::vector<char> names = read_table<char>(file, strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol : read_table<Elf64_Sym>(file, table.sh_offset, table.sh_size))
        note_symbol(facts, symbol, name_at(names, symbol.st_name));
}

inline ElfFacts read_elf(int file) {
    ElfFacts facts;
    Elf64_Ehdr header{};
    if (!read_at(file, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return facts;
    if (header.e_ident[EI_CLASS] != ELFCLASS64) return facts;
    facts.readable = true;
    facts.entry = header.e_entry;
    if (header.e_shentsize != sizeof(Elf64_Shdr)) return facts;
    auto sections = read_table<Elf64_Shdr>(file, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
    for (unsigned type : {SHT_SYMTAB, SHT_DYNSYM}) {  // a file has one of each; reading more could take hours
        auto table = std::find_if(sections.begin(), sections.end(), [&](auto& section) { return section.sh_type == type; });
        if (table != sections.end()) read_symbols(file, sections, *table, facts);
    }
    return facts;
}
