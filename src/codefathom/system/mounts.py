"""The file systems that folders lie on: one on another machine sends no events for what others change there."""

from __future__ import annotations

import os
import re
from contextlib import suppress

_MOUNTS = "/proc/self/mountinfo"
_NETWORK = frozenset(
    {
        *("9p", "afs", "ceph", "cifs", "coda", "davfs", "drvfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs"),
        *("nfs4", "ocfs2", "orangefs", "prl_fs", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"),
    }
)
# They set the times of a folder when an entry of it comes, goes or gets another name, as POSIX says, by this machine
# alone. FAT and the drives of other machines, also of a host, are not among them.
_KEEP_FOLDER_TIMES = frozenset(
    {"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "reiserfs", "tmpfs", "xfs", "zfs"}
)


def network_drive(folder: str) -> str:
    """Return the kind of the network drive that a folder lies on; "" for none, and where that cannot be told."""
    if folder.startswith("\\\\"):
        return "network share"
    with suppress(OSError), open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
        kind = file_system_of(os.path.realpath(folder), file.read())
        # A file system of a program, such as sshfs; `fuseblk` is a disk.
        return kind if kind in _NETWORK or kind.startswith("fuse.") else ""
    return ""


def keeps_folder_times(folder: str) -> bool:
    """Return True if the times of each folder on this disk tell whether it still lists the same names."""
    with suppress(OSError), open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
        return file_system_of(os.path.realpath(folder), file.read()) in _KEEP_FOLDER_TIMES
    return False


def file_system_of(path: str, mounts: str) -> str:
    """Return the type of the file system that an absolute path lies on, by the lines of Linux's `mountinfo`."""
    longest, kind = "", ""
    for line in mounts.splitlines():
        fields, _, more = line.partition(" - ")
        if len(words := fields.split(" ")) < 5 or not more:
            continue
        place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), words[4])
        # Of two mounts at one place the later one hides the other.
        if len(place) >= len(longest) and (path == place or path.startswith(place.rstrip("/") + "/")):
            longest, kind = place, more.split(" ")[0]
    return kind
