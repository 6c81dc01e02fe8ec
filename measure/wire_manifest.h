/* measure/wire_manifest.h - the table of a manifest, for the wire files of measure/ only. */
#ifndef HONE_MEASURE_WIRE_MANIFEST_H
#define HONE_MEASURE_WIRE_MANIFEST_H

#include "measure/manifest.h"
#include "measure/wire_fields.h"

extern const wire_table hone_wire_manifest_table;

#endif
