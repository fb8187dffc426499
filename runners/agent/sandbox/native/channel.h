// The command's end of its channel: a socket that the agent passes on. A process inherits it; a container fetches it.
#pragma once

#include "orders.h"

#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

constexpr int kNoChannel = -1;

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

inline int receive_descriptor(int line) {
    char byte;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(line, &message, MSG_CMSG_CLOEXEC) <= 0) die("the agent has not handed over the channel");
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (head == nullptr || head->cmsg_type != SCM_RIGHTS) die("the agent's message holds no channel");
    int channel = kNoChannel;
    memcpy(&channel, CMSG_DATA(head), sizeof channel);
    return channel;
}

// The channel's descriptor in this process; kNoChannel where the command has none.
inline int open_channel(const Orders& orders) {
    if (orders.door.empty()) return static_cast<int>(orders.channel);
    int line = knock_at(orders.door);
    int channel = receive_descriptor(line);
    close(line);
    return channel;
}
