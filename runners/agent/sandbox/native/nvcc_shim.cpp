#include "nvcc_shim.h"

#include "files.h"
#include "nvcc_host.h"
#include "nvcc_target.h"
#include "object_cache.h"
#include "python_shim.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <set>
#include <sys/wait.h>

static std::vector<char*> argument_pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

[[noreturn]] static void become(std::vector<std::string> command) {
    std::vector<char*> arguments = argument_pointers(command);
    execv(arguments[0], arguments.data());
    perror(arguments[0]);
    _exit(126);
}

// One program started with its output kept aside, so that the outputs of several come in the order of their sources.
class Piece {
public:
    Piece(std::string notes, std::vector<std::string> command, const ObjectCache* cache) : notes_(std::move(notes)) {
        pid_ = fork();
        if (pid_ != 0) return;
        setpgid(0, 0);
        redirect(1, notes_ + ".out");
        redirect(2, notes_ + ".err");
        if (cache != nullptr) cache->set_environment();
        become(std::move(command));
    }

    pid_t pid() const { return pid_; }
    bool running() const { return running_; }
    bool failed() const { return !running_ && status_ != 0; }
    int status() const { return status_; }

    void ended(int status) {
        running_ = false;
        status_ = status;
    }

    void kill_it() const {
        if (running_) kill(-pid_, SIGKILL);
    }

    // Words of the driver's own that were printed for an earlier piece are not repeated.
    void print(std::set<std::string>& said) const {
        copy(notes_ + ".out", STDOUT_FILENO, said);
        copy(notes_ + ".err", STDERR_FILENO, said);
    }

private:
    static void redirect(int stream, const std::string& path) {
        int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, stream);
        close(file);
    }

    static void copy(const std::string& path, int stream, std::set<std::string>& said) {
        const std::string all = read_file(path, SIZE_MAX);
        std::string text;
        for (size_t at = 0, next; at < all.size(); at = next) {
            next = std::min(all.find('\n', at), all.size() - 1) + 1;
            std::string line = all.substr(at, next - at);
            if (!starts_with(line, "nvcc warning") || said.insert(line).second) text += line;
        }
        for (size_t done = 0; done < text.size();) {
            ssize_t sent = write(stream, text.data() + done, text.size() - done);
            if (sent <= 0 && errno != EINTR) return;
            done += static_cast<size_t>(std::max<ssize_t>(sent, 0));
        }
    }

    std::string notes_;
    pid_t pid_ = -1;
    bool running_ = true;
    int status_ = 0;
};

static int exit_status(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Two unless told otherwise.
static size_t jobs_at_a_time() {
    const std::string told = setting("PODIUM_NVCC_JOBS");
    return told.empty() ? 2 : std::max(1ul, strtoul(told.c_str(), nullptr, 10));
}

// `nvcc a.cu b.cpp -o out` as nvcc itself goes about it, source after source and then the link, but side by side.
class SplitCall {
public:
    SplitCall(std::string nvcc, const NvccCall& call, ObjectCache& cache)
        : nvcc_(std::move(nvcc)), call_(call), cache_(cache) {
        std::string pattern = setting("TMPDIR").empty() ? "/tmp" : setting("TMPDIR");
        pattern += "/podium-nvcc-XXXXXX";
        if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
        if (cache_.present()) ccache_ = program_behind_us("ccache");
        for (const Word& word : call.words)
            if (word.part == Part::source) sources_.push_back(word.text);
    }

    ~SplitCall() {
        std::vector<std::string> names;
        if (!usable() || !list_folder(folder_, names)) return;
        for (const std::string& name : names) unlink((folder_ + "/" + name).c_str());
        rmdir(folder_.c_str());
    }

    bool usable() const { return !folder_.empty(); }

    // The exit status. As with nvcc, nothing is said of sources after the first that fails.
    int run() {
        compile_all();
        std::set<std::string> said;
        for (Piece& piece : pieces_) {
            piece.print(said);
            if (piece.failed()) return exit_status(piece.status());
        }
        Piece link(folder_ + "/link", link_command(), nullptr);
        int status = 0;
        while (waitpid(link.pid(), &status, 0) < 0 && errno == EINTR) continue;
        link.print(said);
        return exit_status(status);
    }

private:
    void compile_all() {
        size_t jobs = jobs_at_a_time(), running = 0;
        while (!verdict_is_known() && (pieces_.size() < sources_.size() || running > 0)) {
            if (pieces_.size() < sources_.size() && running < jobs) {
                start(pieces_.size());
                ++running;
            } else if (wait_for_one()) {
                --running;
            }
        }
        for (Piece& piece : pieces_) piece.kill_it();
    }

    // A source failed and none before it is still at work: what follows can change nothing.
    bool verdict_is_known() const {
        for (const Piece& piece : pieces_)
            if (piece.running() || piece.failed()) return piece.failed();
        return false;
    }

    bool wait_for_one() {
        int status = 0;
        pid_t pid = waitpid(-1, &status, 0);
        for (Piece& piece : pieces_) {
            if (piece.pid() != pid) continue;
            piece.ended(status);
            return true;
        }
        return false;
    }

    void start(size_t index) {
        bool cached = !ccache_.empty() && cache_.serves(sources_[index]);
        pieces_.emplace_back(object(index), compile_command(index, cached), cached ? &cache_ : nullptr);
    }

    std::string object(size_t index) const { return folder_ + "/" + std::to_string(index) + ".o"; }

    std::vector<std::string> compile_command(size_t index, bool cached) const {
        std::vector<std::string> command;
        if (cached) command.push_back(ccache_);
        command.push_back(nvcc_);
        for (const Word& word : call_.words)
            if (word.part == Part::option) command.push_back(word.text);
        for (const std::string& word : {std::string("-c"), std::string("-o"), object(index), sources_[index]})
            command.push_back(word);
        return command;
    }

    std::vector<std::string> link_command() const {
        std::vector<std::string> command{nvcc_};
        size_t index = 0;
        for (const Word& word : call_.words) command.push_back(word.part == Part::source ? object(index++) : word.text);
        return command;
    }

    std::string nvcc_;
    const NvccCall& call_;
    ObjectCache& cache_;
    std::string folder_, ccache_;
    std::vector<std::string> sources_;
    std::vector<Piece> pieces_;
};

// Flags from the environment are in no command line and in no hash of ccache's.
static bool environment_is_plain() {
    for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"})
        if (!setting(name).empty()) return false;
    return true;
}

static std::vector<std::string> joined(std::vector<std::string> command, const std::vector<std::string>& arguments) {
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

static int compile_one(const std::string& nvcc, const std::vector<std::string>& arguments, const std::string& source) {
    ObjectCache cache;
    std::string ccache = cache.present() ? program_behind_us("ccache") : "";
    if (ccache.empty() || !cache.serves(source)) become(joined({nvcc}, arguments));
    cache.set_environment();
    become(joined({ccache, nvcc}, arguments));
}

int start_nvcc(char** given) {
    std::string nvcc = program_behind_us("nvcc");
    if (nvcc.empty()) {
        fprintf(stderr, "nvcc: command not found\n");
        return 127;
    }
    std::vector<std::string> arguments;
    for (char** word = given + 1; *word != nullptr; ++word) arguments.emplace_back(*word);
    arguments = with_target(std::move(arguments), setting("PODIUM_NVCC_ARCH"));
    arguments = with_host_heap(std::move(arguments), setting("PODIUM_NVCC_HOST_HEAP_KIB"));
    std::optional<NvccCall> call = environment_is_plain() ? NvccReader(arguments).read() : std::nullopt;
    size_t sources = call ? call->count(Part::source) : 0;
    if (sources == 1 && call->compiles_only) {
        auto is_source = [](const Word& word) { return word.part == Part::source; };
        return compile_one(nvcc, arguments, std::find_if(call->words.begin(), call->words.end(), is_source)->text);
    }
    if (sources > 1 && !call->compiles_only && call->count(Part::output) == 2) {
        ObjectCache cache;
        if (!cache.present() && jobs_at_a_time() == 1) become(joined({nvcc}, arguments));
        SplitCall split(nvcc, *call, cache);
        if (split.usable()) return split.run();
    }
    become(joined({nvcc}, arguments));
}
