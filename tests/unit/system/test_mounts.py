"""The file system that a folder lies on, by what Linux says."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom.system.mounts import file_system_of, network_drive

MOUNTS = r"""
22 28 0:20 / /proc rw,nosuid - proc proc rw
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 28 0:44 / /home/ada/far rw shared:9 master:2 - nfs4 server:/far rw
41 40 0:45 / /home/ada/far/near rw - ext4 /dev/vdb rw
42 28 0:46 / /mnt/with\040space rw - fuse.sshfs ada@server: rw
43 28 0:47 / /twice rw - ext4 /dev/vdc rw
44 43 0:48 / /twice rw - cifs //server/twice rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/home/ada", "ext4"),
        ("/home/ada/farther", "ext4"),
        ("/home/ada/far", "nfs4"),
        ("/home/ada/far/project", "nfs4"),
        ("/home/ada/far/near/project", "ext4"),
        ("/mnt/with space/a", "fuse.sshfs"),
        ("/twice/a", "cifs"),
    ],
)
def test_the_nearest_mount_counts(path: str, kind: str) -> None:
    assert file_system_of(path, MOUNTS) == kind


def test_nothing_is_known_without_mounts() -> None:
    assert file_system_of("/a", "") == ""


def test_a_share_of_windows_and_a_folder_here(tmp_path: Path) -> None:
    assert network_drive("\\\\server\\share") == "network share"
    assert network_drive(str(tmp_path)) == ""
