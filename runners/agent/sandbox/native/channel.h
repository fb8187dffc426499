// The command's end of its channel and the supervisor's end of its brake: sockets that the agent passes on. A process
// inherits them; a container fetches them.
#pragma once

#include "orders.h"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

constexpr int kNoSocket = -1;

inline int knock_at(const std::string& door) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (door.size() >= sizeof address.sun_path) die("the path of the channel's door is too long");
    memcpy(address.sun_path, door.c_str(), door.size());
    int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (line < 0 || connect(line, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        die("cannot reach the agent for the channel: a channel takes a Docker engine on the agent's own machine");
    return line;
}

struct Sockets {
    int channel = kNoSocket;
    int brake = kNoSocket;
};

inline Sockets receive_sockets(int line) {
    char byte;
    iovec part{&byte, 1};
    int received[2] = {kNoSocket, kNoSocket};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof received)];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(line, &message, MSG_CMSG_CLOEXEC) <= 0) die("the agent has not handed over the channel");
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (head == nullptr || head->cmsg_type != SCM_RIGHTS) die("the agent's message holds no channel");
    memcpy(received, CMSG_DATA(head), std::min(head->cmsg_len - CMSG_LEN(0), sizeof received));
    return {received[0], received[1]};
}

// The descriptors in this process; kNoSocket where the command has none.
inline Sockets open_sockets(const Orders& orders) {
    if (orders.door.empty()) return {static_cast<int>(orders.channel), static_cast<int>(orders.brake)};
    int line = knock_at(orders.door);
    Sockets sockets = receive_sockets(line);
    close(line);
    return sockets;
}
