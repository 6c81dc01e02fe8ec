/* builder/object.h - what can be seen of an object file before it is linked. */
#ifndef HONE_BUILDER_OBJECT_H
#define HONE_BUILDER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* Does the object name symbols that it does not define? True as well where the bytes are not an
 * ELF object of 64 bits in this machine's byte order, or a broken one. Bounded by `count`. */
bool hone_object_needs_symbols(const void *object, size_t count);

#endif
