/* runtime/model/workspace.c - scratch memory: one stack of blocks per thread.
 *
 * A thread's stack grows to what its kernels need and is then reused without any call of malloc:
 * what took several blocks the first time is one block from then on. Stacks are found through a
 * thread-specific key and hang in a list, so that both the end of a thread and the end of the
 * runtime free them. */
#include <stdlib.h>
#include <string.h>

#include "runtime/model/rt_impl.h"

#define ALIGNMENT 64
#define FIRST_BLOCK_BYTES (64 * 1024)

typedef struct block {
    struct block *below;
    size_t capacity, used; /* bytes behind the header */
} block;

typedef struct stack {
    rt_workspaces *owner;
    struct stack *prev, *next;
    block *top;
    size_t in_use, most; /* bytes of all blocks: now, and ever */
} stack;

struct rt_workspaces {
    pthread_key_t key;
    pthread_mutex_t lock; /* of the list */
    stack *stacks;
};

/* Each piece has a header of one alignment unit in front that holds the level to go back to. */
typedef struct piece {
    size_t used_before;
} piece;

static void free_blocks(stack *s) {
    while (s->top) {
        block *below = s->top->below;
        free(s->top);
        s->top = below;
    }
}

static void end_stack(void *memory) {
    stack *s = memory;
    pthread_mutex_lock(&s->owner->lock);
    if (s->prev) s->prev->next = s->next;
    if (!s->prev) s->owner->stacks = s->next;
    if (s->next) s->next->prev = s->prev;
    pthread_mutex_unlock(&s->owner->lock);
    free_blocks(s);
    free(s);
}

rt_workspaces *rt_workspaces_create(void) {
    rt_workspaces *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    if (pthread_key_create(&w->key, end_stack) != 0) {
        free(w);
        return NULL;
    }
    if (pthread_mutex_init(&w->lock, NULL) != 0) {
        pthread_key_delete(w->key);
        free(w);
        return NULL;
    }
    return w;
}

void rt_workspaces_destroy(rt_workspaces *w) {
    if (!w) return;
    pthread_key_delete(w->key);
    while (w->stacks) {
        stack *s = w->stacks;
        w->stacks = s->next;
        free_blocks(s);
        free(s);
    }
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static stack *stack_of_thread(rt_workspaces *w) {
    stack *s = pthread_getspecific(w->key);
    if (s) return s;
    s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->owner = w;
    if (pthread_setspecific(w->key, s) != 0) {
        free(s);
        return NULL;
    }
    pthread_mutex_lock(&w->lock);
    s->next = w->stacks;
    if (w->stacks) w->stacks->prev = s;
    w->stacks = s;
    pthread_mutex_unlock(&w->lock);
    return s;
}

static char *block_data(block *b) {
    return (char *)b + ALIGNMENT;
}

static int push_block(stack *s, size_t need) {
    size_t capacity = s->top ? s->top->capacity * 2 : FIRST_BLOCK_BYTES;
    while (capacity < need)
        capacity *= 2;
    block *b = aligned_alloc(ALIGNMENT, ALIGNMENT + capacity);
    if (!b) return -1;
    *b = (block){.below = s->top, .capacity = capacity};
    s->top = b;
    return 0;
}

/* An empty stack of one block: the next call finds room for all that was ever needed at once. */
static void make_room(stack *s) {
    block *small = s->top;
    if (small->capacity >= s->most) return;
    s->top = NULL;
    if (push_block(s, s->most) == 0)
        free(small);
    else
        s->top = small;
}

void *rt_workspaces_alloc(rt_workspaces *w, int64_t bytes) {
    if (bytes < 0 || bytes > INT64_MAX / 4) return NULL;
    stack *s = stack_of_thread(w);
    if (!s) return NULL;
    size_t rounded = ((size_t)bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t need = rounded + ALIGNMENT;
    if (s->top && s->top->used == 0 && s->top->capacity < need) {
        block *empty = s->top; /* nothing lives in it: replace it by a larger one */
        s->top = empty->below;
        free(empty);
    }
    if (!s->top || s->top->capacity - s->top->used < need) {
        if (push_block(s, need) != 0) return NULL;
    }
    char *at = block_data(s->top) + s->top->used;
    ((piece *)at)->used_before = s->top->used;
    s->top->used += need;
    s->in_use += need;
    if (s->in_use > s->most) s->most = s->in_use;
    return at + ALIGNMENT;
}

void rt_workspaces_free(rt_workspaces *w, void *memory) {
    if (!memory) return;
    stack *s = pthread_getspecific(w->key);
    if (!s || !s->top) return;
    const piece *p = (const piece *)((char *)memory - ALIGNMENT);
    s->in_use -= s->top->used - p->used_before;
    s->top->used = p->used_before;
    while (s->top->used == 0 && s->top->below) {
        /* keep the larger of the two: the next kernel finds one block that fits */
        block *upper = s->top, *lower = upper->below;
        if (lower->used > 0) {
            s->top = lower;
            free(upper);
            break;
        }
        upper->below = lower->below;
        free(lower);
    }
    if (s->in_use == 0) make_room(s);
}
