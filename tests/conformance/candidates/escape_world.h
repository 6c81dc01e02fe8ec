/* tests/conformance/candidates/escape_world.h - what lies outside of the sandbox, for escapes.c to
 * reach. The test copies the built library and writes this struct over the one that it finds in it
 * by its magic: so constructors know it, too, and no environment or file has to be let in. */
#ifndef HONE_TESTS_CONFORMANCE_CANDIDATES_ESCAPE_WORLD_H
#define HONE_TESTS_CONFORMANCE_CANDIDATES_ESCAPE_WORLD_H

#include <stdint.h>

#define ESCAPE_WORLD_MAGIC "the world outside of the sandbox"
#define ESCAPE_IPC_KEY 0x686f6e65

typedef enum escape_place {
    ESCAPE_NOWHERE,
    ESCAPE_IN_CALL,        /* of the kernel, or the external function */
    ESCAPE_IN_CONSTRUCTOR, /* while the library is loaded */
} escape_place;

typedef struct escape_world {
    char magic[sizeof ESCAPE_WORLD_MAGIC];
    int32_t place;
    int32_t only_shown;     /* the rows that succeed where nothing holds them */
    int32_t runner, victim; /* processes outside */
    uint32_t port;          /* TCP, on 127.0.0.1 */
    uint64_t memory;        /* address of 8 bytes in the victim */
    char dir[160], file[160], doomed[160], fifo[160], link[160]; /* link: to a file of secrets */
    char socket[64];                                             /* abstract, without the NUL */
    char secret_name[64]; /* variable of the runner's environment */
} escape_world;

#endif
