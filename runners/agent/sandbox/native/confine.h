// What the command may not do, whatever the backend: resource limits and a hand-written seccomp filter.
#pragma once

#include "orders.h"

#include <cstddef>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "podium-supervisor knows x86_64 and aarch64"
#endif

// New namespaces (user, mount, pid, net, ipc, uts, cgroup) and CLONE_UNTRACED, which would slip past the witness.
constexpr unsigned kForbiddenCloneFlags = 0x7E020000u | 0x00800000u;

// Calls that reach into other processes, widen the kernel's surface or change the machine. Listed by number where
// an old header may lack the name; those numbers are the same on both architectures.
constexpr int kDenied[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_perf_event_open,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_personality,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_seccomp,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_fanotify_init,
    SYS_lookup_dcookie,
    SYS_vhangup,
    SYS_nfsservctl,
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_uselib,
    SYS__sysctl,
    SYS_create_module,
#endif
    428 /* open_tree */,
    429 /* move_mount */,
    430 /* fsopen */,
    431 /* fsconfig */,
    432 /* fsmount */,
    433 /* fspick */,
    438 /* pidfd_getfd */,
    440 /* process_madvise */,
    442 /* mount_setattr */,
    443 /* quotactl_fd */,
    447 /* memfd_secret */,
    467 /* open_tree_attr */,
};

// Calls that slow or bound the process that they name. Linux allows them between processes of one user, so that without
// a rule the command could have its supervisor killed by a limit or starved, which looks like a fault of this machine.
struct NamingCall {
    int number, argument;
};
constexpr NamingCall kNamingCalls[] = {
    {SYS_prlimit64, 0},         {SYS_sched_setparam, 0}, {SYS_sched_setscheduler, 0}, {SYS_sched_setattr, 0},
    {SYS_sched_setaffinity, 0}, {SYS_setpriority, 1},    {SYS_ioprio_set, 1},
};
constexpr unsigned kPriorityOfUser = 2, kIoPriorityOfUser = 3;  // PRIO_USER, IOPRIO_WHO_USER: all processes of a user

// Answered as if the kernel were too old, so that libraries take their older way.
constexpr int kAbsent[] = {435 /* clone3 */, 425 /* io_uring_setup */, 426 /* io_uring_enter */,
                           427 /* io_uring_register */};

struct Filter {
    std::vector<sock_filter> code;

    void statement(unsigned short operation, unsigned value) { code.push_back({operation, 0, 0, value}); }
    void jump(unsigned short operation, unsigned value, unsigned char yes, unsigned char no) {
        code.push_back({operation, yes, no, value});
    }
    void load(size_t offset) { statement(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)); }
    void answer(unsigned action) { statement(BPF_RET | BPF_K, action); }
    void refuse(int number, int error) {
        jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1);
        answer(SECCOMP_RET_ERRNO | static_cast<unsigned>(error));
    }
    // Refuse `number` unless its first argument is one of `values`; in either case the number is loaded afterwards.
    void refuse_others(int number, const std::vector<unsigned>& values, int error) {
        const auto count = static_cast<unsigned char>(values.size());
        jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, static_cast<unsigned char>(count + 3));
        load(offsetof(seccomp_data, args));
        for (unsigned char index = 0; index < count; ++index)
            jump(BPF_JMP | BPF_JEQ | BPF_K, values[index], static_cast<unsigned char>(count - index), 0);
        answer(SECCOMP_RET_ERRNO | static_cast<unsigned>(error));
        load(offsetof(seccomp_data, nr));
    }
    // Refuse `number` where its argument's low half `test`s against `value` as wanted; afterwards the number is reloaded.
    void refuse_argument(int number, int argument, unsigned short test, unsigned value, bool when, int error) {
        jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 4);
        load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(argument));
        jump(static_cast<unsigned short>(BPF_JMP | test | BPF_K), value, when ? 0 : 1, when ? 1 : 0);
        answer(SECCOMP_RET_ERRNO | static_cast<unsigned>(error));
        load(offsetof(seccomp_data, nr));
    }
};

// Under the witness, calls that exchange a program or end it stop for it first.
constexpr int kWitnessed[] = {SYS_execve, SYS_execveat, SYS_exit_group};

// With `has_own_network` the loopback device is the command's own and leads nowhere.
inline Filter build_filter(pid_t supervisor, bool is_witnessed, bool has_own_network) {
    Filter filter;
    filter.load(offsetof(seccomp_data, arch));
    filter.jump(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    filter.answer(SECCOMP_RET_KILL_PROCESS);
    filter.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    filter.jump(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1);  // the x32 numbering
    filter.answer(SECCOMP_RET_ERRNO | ENOSYS);
#endif
    for (int number : kDenied) filter.refuse(number, EPERM);
    for (int number : kAbsent) filter.refuse(number, ENOSYS);
    filter.refuse_argument(SYS_clone, 0, BPF_JSET, kForbiddenCloneFlags, true, EPERM);
    filter.refuse_argument(SYS_prctl, 0, BPF_JEQ, PR_SET_SECCOMP, true, EPERM);
    std::vector<unsigned> families{AF_UNIX};
    if (has_own_network) families.insert(families.end(), {AF_INET, AF_INET6});
    filter.refuse_others(SYS_socket, families, EACCES);
    for (const NamingCall& call : kNamingCalls)
        filter.refuse_argument(call.number, call.argument, BPF_JEQ, static_cast<unsigned>(supervisor), true, EPERM);
    filter.refuse_argument(SYS_setpriority, 0, BPF_JEQ, kPriorityOfUser, true, EPERM);
    filter.refuse_argument(SYS_ioprio_set, 0, BPF_JEQ, kIoPriorityOfUser, true, EPERM);
    for (int number : kWitnessed) {
        if (!is_witnessed) break;
        filter.jump(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1);
        filter.answer(SECCOMP_RET_TRACE);
    }
    filter.answer(SECCOMP_RET_ALLOW);
    return filter;
}

inline bool install_filter(pid_t supervisor, bool is_witnessed, bool has_own_network) {
    Filter filter = build_filter(supervisor, is_witnessed, has_own_network);
    sock_fprog program{static_cast<unsigned short>(filter.code.size()), filter.code.data()};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

inline void limit(int resource, long value) {
    rlimit current{};
    getrlimit(static_cast<__rlimit_resource_t>(resource), &current);
    rlim_t wanted = static_cast<rlim_t>(value);
    if (current.rlim_max != RLIM_INFINITY && wanted > current.rlim_max) wanted = current.rlim_max;
    rlimit both{wanted, wanted};
    setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

inline void limit_resources(const Orders& orders) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, orders.open_files);
    if (orders.file_bytes > 0) limit(RLIMIT_FSIZE, orders.file_bytes);
    if (orders.processes > 0) limit(RLIMIT_NPROC, orders.processes);
}
