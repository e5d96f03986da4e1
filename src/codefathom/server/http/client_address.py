"""Whose request it is: the address by which limits are counted, also behind a proxy.

A proxy names its client in the header X-Forwarded-For, and so can everybody else. So the header is believed from the
proxies of `server.trusted_proxies` only, and of its addresses the last one that is not such a proxy: what stands left
of it was sent by the client.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def network_of(text: str) -> Network:
    """Return the network that a setting names, such as 10.0.0.0/8, or a single address. Raises ValueError."""
    return ipaddress.ip_network(text.strip(), strict=False)


def is_proxy(host: str, proxies: Sequence[Network]) -> bool:
    """Return True if an address is that of a trusted proxy."""
    address = _parsed(host)
    return address is not None and any(address in network for network in proxies)


def client_of(peer: str, forwarded: Iterable[str], proxies: Sequence[Network]) -> str:
    """Return the address of a client: of `peer` itself, or of the one that it speaks for.

    `forwarded` are the values of X-Forwarded-For, in their order.
    """
    client = peer
    named = [part for value in forwarded for part in value.split(",")]
    while named and is_proxy(client, proxies):
        address = _parsed(_without_port(named.pop().strip()))
        if address is None:  # not an address: what stands before it is worth no more
            break
        client = str(address)
    return client


def counted_address(host: str) -> str:
    """Return the address by which a client is counted: of IPv6 the network, as a client has many addresses."""
    address = _parsed(host)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, 64), strict=False))
    return host if address is None else str(address)


@lru_cache(maxsize=1_024)  # the same clients ask again and again
def _parsed(host: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    host, _, port = text.partition(":")
    return host if port.isdigit() else text
