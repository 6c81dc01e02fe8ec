#!/usr/bin/env python3
"""usage: sbom.py BUILD_DIR > sbom.spdx.json

What the programs of a build are linked with, as SPDX 2.3: Debian packages with versions, licences by
the files that the packages bring.
"""
import hashlib
import json
import os
import re
import subprocess
import sys

PROGRAMS = ["hone", "hone-worker", "hone-runner", "libhone.so"]
COPYRIGHT = "/usr/share/doc/%s/copyright"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """The files that the loader finds for a program."""
    return re.findall(r"=> (/\S+)", output("ldd", program))


def spellings(path):
    """As packages may say it: the file itself before links to it, which may be another package's."""
    real = os.path.realpath(path)
    return [real, real.replace("/usr/lib", "/lib"), path]


def packages_of(paths):
    """Name, version and source of the Debian packages of files, by file; those of none are left
    out. dpkg-query reads all it knows at each call, so that there is one for all of them."""
    said = subprocess.run(["dpkg-query", "-S", *{each for path in paths for each in spellings(path)}],
                          capture_output=True, text=True, check=False).stdout
    names = {path: owners.split(",")[0] for owners, path in re.findall(r"^(?!(?:local )?diversion )(.*): (/.*)$", said, re.M)}
    fields = output("dpkg-query", "-W", "-f", "${binary:Package}\t${Package}\t${Version}\t${source:Package}\n",
                    *set(names.values()))
    facts = {}
    for name, *rest in (line.split("\t") for line in fields.splitlines()):
        facts[name] = facts[name.partition(":")[0]] = tuple(rest)
    owner = {path: next((names[each] for each in spellings(path) if each in names), None) for path in paths}
    return {path: facts[name] for path, name in owner.items() if name}


def license_of(package):
    """The licences that a machine-readable copyright file names, else NOASSERTION."""
    try:
        with open(COPYRIGHT % package, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return []
    return sorted(set(re.findall(r"^License: *(\S[^\n]*)", text, re.M)))


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def identifier(kind, name):
    return "SPDXRef-%s-%s" % (kind, re.sub(r"[^A-Za-z0-9.-]", "-", name))


def document(build):
    version = re.search(r"(\S+)$", output(os.path.join(build, "hone"), "version").strip()).group(1)
    packages, relations = {}, []
    linked = {name: libraries(os.path.join(build, name)) for name in PROGRAMS}
    known = packages_of({path for paths in linked.values() for path in paths})
    for name in PROGRAMS:
        path = os.path.join(build, name)
        own = identifier("Program", name)
        packages[own] = {"SPDXID": own, "name": name, "versionInfo": version,
                         "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                         "licenseDeclared": "Apache-2.0", "licenseConcluded": "Apache-2.0",
                         "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(path)}]}
        relations.append(["SPDXRef-DOCUMENT", "DESCRIBES", own])
        for found in sorted({known[library] for library in linked[name] if library in known}):
            package, its_version, source = found
            other = identifier("Package", package)
            packages[other] = {"SPDXID": other, "name": package, "versionInfo": its_version,
                               "sourceInfo": "Debian source package " + source,
                               "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                               "licenseDeclared": "NOASSERTION", "licenseConcluded": "NOASSERTION",
                               "licenseComments": "; ".join(license_of(package)) or
                               "see " + COPYRIGHT % package}
            relations.append([own, "DYNAMIC_LINK", other])
    created = output("date", "-u", "+%Y-%m-%dT%H:%M:%SZ").strip()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": "hone-" + version,
            "documentNamespace": "urn:hone:sbom:%s:%s" % (version, sha256(os.path.join(build, "hone"))[:16]),
            "creationInfo": {"created": created, "creators": ["Tool: hone-sbom"]},
            "packages": list(packages.values()),
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                              for a, kind, b in relations]}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    json.dump(document(sys.argv[1]), sys.stdout, indent=1)
    print()
