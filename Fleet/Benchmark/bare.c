// SPDX-License-Identifier: Apache-2.0
// Measures the limit of the broker: a publisher and a subscriber that use only libmosquitto.
//
//   bare publish PORT FIRST CONNECTIONS RATE SECONDS WINDOW FILE
//       publishes FILE with QoS 1 from CONNECTIONS nodes, as fast as possible if RATE is 0. Starts when a line arrives
//       on standard input.
//   bare subscribe PORT SECONDS FILE
//       counts events until SECONDS pass without one, and keeps the first event of a tag in FILE.
//
// Both print a JSON line once they are connected, and one at the end. In the payload, the value of "time" is replaced
// by the send time. Latency is measured from then until the subscriber receives the message, in milliseconds.
#define _GNU_SOURCE
#include <mosquitto.h>
#include <inttypes.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double wall(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6 + usage.ru_stime.tv_sec + usage.ru_stime.tv_usec / 1e6;
}

static void fail(const char *what) {
    fprintf(stderr, "bare: %s\n", what);
    exit(1);
}

// ---- Subscriber

enum { buckets = 60000 };  // One millisecond each; the last bucket counts everything slower.
static uint64_t latencies[buckets + 1], received, late, bytes;
static double first_at, last_at, connected_at;
static bool is_subscribed;
static const char *sample;

static void on_connect(struct mosquitto *client, void *context, int result) {
    (void)context;
    if (result != 0) fail("the broker refuses the connection");
    mosquitto_subscribe(client, NULL, "opencorenfc/+/+/event", 1);
}

static void on_subscribe(struct mosquitto *client, void *context, int id, int count, const int *granted) {
    (void)client, (void)context, (void)id, (void)count, (void)granted;
    is_subscribed = true;
}

// Converts a time such as "2026-11-24T05:40:12.123Z" to seconds. The part for the day is computed once per day.
static double seconds_of(const char *text) {
    static char day[11];
    static double midnight;
    if (strncmp(day, text, 10) != 0) {
        struct tm date = {0};
        if (strptime(text, "%Y-%m-%d", &date) == NULL) return 0;
        midnight = timegm(&date);
        memcpy(day, text, 10);
    }
    return midnight + atoi(text + 11) * 3600 + atoi(text + 14) * 60 + atof(text + 17);
}

static void on_message(struct mosquitto *client, void *context, const struct mosquitto_message *message) {
    (void)client, (void)context;
    char *text = message->payload;
    last_at = now();
    bytes += message->payloadlen;
    if (received++ == 0) first_at = last_at;
    if (sample != NULL && memmem(text, message->payloadlen, "opencorenfc.tag\"", 16) != NULL) {
        FILE *file = fopen(sample, "w");
        if (file == NULL || fwrite(text, 1, message->payloadlen, file) != (size_t)message->payloadlen) fail("the sample can't be written");
        fclose(file);
        sample = NULL;
    }
    if (memmem(text, message->payloadlen, "\"late\":true", 11) != NULL) {
        late++;
        return;
    }
    char *time = memmem(text, message->payloadlen, "\"time\":\"", 8);
    if (time == NULL || time + 32 > text + message->payloadlen) return;
    double taken = (wall() - seconds_of(time + 8)) * 1000;
    int bucket = taken < 0 ? 0 : taken >= buckets ? buckets : (int)taken;
    latencies[bucket]++;
}

static int percentile(double part) {
    uint64_t all = 0, seen = 0;
    for (int i = 0; i <= buckets; i++) all += latencies[i];
    for (int i = 0; i <= buckets; i++) {
        seen += latencies[i];
        if (seen >= all * part && seen > 0) return i;
    }
    return 0;
}

static int subscribe(int port, double patience, const char *file) {
    sample = file;
    struct mosquitto *client = mosquitto_new("bare-subscriber", true, NULL);
    if (client == NULL) fail("no memory");
    mosquitto_connect_callback_set(client, on_connect);
    mosquitto_subscribe_callback_set(client, on_subscribe);
    mosquitto_message_callback_set(client, on_message);
    if (mosquitto_connect(client, "127.0.0.1", port, 60) != 0) fail("no broker");
    connected_at = last_at = now();
    bool has_reported = false;
    while (received == 0 || now() - last_at < patience) {
        if (mosquitto_loop(client, 100, 1) != 0) break;
        if (is_subscribed && !has_reported) {
            has_reported = true;
            puts("{\"event\":\"connected\"}");
            fflush(stdout);
        }
        if (received == 0 && now() - connected_at > 600) break;
    }
    double seconds = last_at - first_at;
    printf("{\"event\":\"ended\",\"received\":%" PRIu64 ",\"late\":%" PRIu64 ",\"seconds\":%.3f,\"rate\":%.0f,\"bytes\":%.0f,"
           "\"p50_ms\":%d,\"p99_ms\":%d,\"cpu\":%.2f}\n",
           received, late, seconds, seconds > 0 ? received / seconds : 0, received > 0 ? (double)bytes / received : 0,
           percentile(0.5), percentile(0.99), cpu());
    return 0;
}

// ---- Publisher

struct node {
    struct mosquitto *client;
    char topic[64];
    int in_flight;
    bool is_connected, writes;
};
static struct node *nodes;
static int connected_count;
static uint64_t acknowledged;

static void node_connected(struct mosquitto *client, void *context, int result) {
    (void)client;
    if (result != 0) fail("the broker refuses the connection");
    ((struct node *)context)->is_connected = true;
    connected_count++;
}

static void node_published(struct mosquitto *client, void *context, int id) {
    (void)client, (void)id;
    ((struct node *)context)->in_flight--;
    acknowledged++;
}

static void watch(int set, struct node *node, int operation) {
    struct epoll_event event = {.events = EPOLLIN | (node->writes ? EPOLLOUT : 0), .data.ptr = node};
    epoll_ctl(set, operation, mosquitto_socket(node->client), &event);
}

static void update(int set, struct node *node) {
    bool wants = mosquitto_want_write(node->client);
    if (wants == node->writes) return;
    node->writes = wants;
    watch(set, node, EPOLL_CTL_MOD);
}

static void serve(int set, int timeout) {
    struct epoll_event events[256];
    int count = epoll_wait(set, events, 256, timeout);
    for (int i = 0; i < count; i++) {
        struct node *node = events[i].data.ptr;
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
            // One packet at a time is enough, because epoll reports the socket again while data is left.
            if (mosquitto_loop_read(node->client, 1) != 0) fail("a connection was lost");
        }
        if (events[i].events & EPOLLOUT) mosquitto_loop_write(node->client, 1);
        update(set, node);
    }
}

static int publish(int port, int first, int count, double rate, double seconds, int window, const char *file) {
    static char payload[65536];
    FILE *input = fopen(file, "r");
    size_t length = input == NULL ? 0 : fread(payload, 1, sizeof payload, input);
    if (length == 0) fail("the payload can't be read");
    char *time = memmem(payload, length, "\"time\":\"", 8);
    if (time == NULL) fail("the payload has no time");
    time += 8;
    nodes = calloc(count, sizeof *nodes);
    int set = epoll_create1(0);
    double begin = now();
    for (int i = 0; i < count; i++) {
        struct node *node = &nodes[i];
        char name[32];
        snprintf(name, sizeof name, "bare-%d", first + i);
        snprintf(node->topic, sizeof node->topic, "opencorenfc/bare-%d/entrance/event", first + i);
        node->client = mosquitto_new(name, true, node);
        if (node->client == NULL) fail("no memory");
        mosquitto_int_option(node->client, MOSQ_OPT_SEND_MAXIMUM, 65535);
        mosquitto_int_option(node->client, MOSQ_OPT_TCP_NODELAY, 1);
        mosquitto_connect_callback_set(node->client, node_connected);
        mosquitto_publish_callback_set(node->client, node_published);
        if (mosquitto_connect(node->client, "127.0.0.1", port, 600) != 0) fail("no broker");
        watch(set, node, EPOLL_CTL_ADD);
        if (i % 50 == 49) serve(set, 0);
    }
    while (connected_count < count && now() - begin < 120) serve(set, 100);
    if (connected_count < count) fail("the nodes can't connect");
    puts("{\"event\":\"connected\"}");
    fflush(stdout);
    // Other processes may still be connecting. The keep-alive interval is longer than that takes.
    if (getchar() == EOF) fail("standard input ended before the start");
    double busy = cpu();
    uint64_t sent = 0;
    int next = 0;
    begin = now();
    double end = begin + seconds;
    while (now() < end) {
        struct timespec clock;
        clock_gettime(CLOCK_REALTIME, &clock);
        struct tm date;
        gmtime_r(&clock.tv_sec, &date);
        char text[32];
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &date);
        snprintf(text + 19, 13, ".%03dZ", (int)(clock.tv_nsec / 1000000) % 1000);
        memcpy(time, text, 24);
        // Send all messages that are due, but at most 200 per iteration of the loop.
        uint64_t due = rate > 0 ? (uint64_t)((now() - begin) * rate) : UINT64_MAX;
        int tries = 0;
        for (int step = 0; step < 200 && sent < due && tries < count;) {
            struct node *node = &nodes[next];
            next = (next + 1) % count;
            if (node->in_flight >= window) {
                tries++;
                continue;
            }
            node->in_flight++;
            sent++;
            step++;
            if (mosquitto_publish(node->client, NULL, node->topic, length, payload, 1, false) != 0)
                fail("a message can't be sent");
            update(set, node);
        }
        serve(set, rate > 0 && sent >= due ? 1 : 0);
    }
    double sending = now() - begin;
    while (acknowledged < sent && now() - end < 30) serve(set, 100);
    printf("{\"event\":\"ended\",\"sent\":%" PRIu64 ",\"acknowledged\":%" PRIu64 ",\"rate\":%.0f,\"cpu\":%.2f}\n", sent, acknowledged,
           sent / sending, cpu() - busy);
    return acknowledged == sent ? 0 : 1;
}

int main(int argc, char **argv) {
    mosquitto_lib_init();
    if (argc == 9 && strcmp(argv[1], "publish") == 0)
        return publish(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atof(argv[5]), atof(argv[6]), atoi(argv[7]), argv[8]);
    if (argc == 5 && strcmp(argv[1], "subscribe") == 0) return subscribe(atoi(argv[2]), atof(argv[3]), argv[4]);
    fprintf(stderr, "usage: bare publish PORT FIRST CONNECTIONS RATE SECONDS WINDOW FILE | bare subscribe PORT SECONDS FILE\n");
    return 2;
}
