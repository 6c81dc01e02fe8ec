/* support/data/queue.h - first in, first out, without memory of its own.
 *
 *     typedef struct job { hone_link link; … } job;      link first: a job * is a hone_link *
 *     hone_queue q; hone_queue_init(&q);
 *     hone_queue_push(&q, &j->link);
 *     job *next = (job *)hone_queue_pop(&q);               NULL when empty
 *
 * An element is in one queue at a time and stays where it is. Threads: thread-compatible.
 */
#ifndef HONE_SUPPORT_DATA_QUEUE_H
#define HONE_SUPPORT_DATA_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hone_link {
    struct hone_link *next;
} hone_link;

/* Not to be copied: `end` may point into it. */
typedef struct hone_queue {
    hone_link *first, **end;
} hone_queue;

static inline void hone_queue_init(hone_queue *queue) {
    queue->first = NULL;
    queue->end = &queue->first;
}

static inline bool hone_queue_is_empty(const hone_queue *queue) {
    return queue->first == NULL;
}

static inline void hone_queue_push(hone_queue *queue, hone_link *link) {
    link->next = NULL;
    *queue->end = link;
    queue->end = &link->next;
}

static inline hone_link *hone_queue_pop(hone_queue *queue) {
    hone_link *link = queue->first;
    if (!link) return NULL;
    queue->first = link->next;
    if (!queue->first) queue->end = &queue->first;
    return link;
}

/* Takes a link out wherever it stands; false when it is not in there. */
static inline bool hone_queue_remove(hone_queue *queue, const hone_link *link) {
    hone_link **at = &queue->first;
    while (*at && *at != link)
        at = &(*at)->next;
    if (!*at) return false;
    *at = link->next;
    if (!*at) queue->end = at;
    return true;
}

#endif
