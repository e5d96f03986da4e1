import { expect, it } from "vitest";
import { addressIn, nameOf } from "./repository";

it.each([
  ["https://example.com/shop.git", "https://example.com/shop.git"],
  [" git clone git@example.com:team/shop.git ", "git@example.com:team/shop.git"],
  ["ssh://git@example.com/shop", "ssh://git@example.com/shop"],
  ["file:///srv/shop.git", "file:///srv/shop.git"],
  ["github.com/x/y", "https://github.com/x/y"],
  [" gitlab.com/group/part/y.git/ ", "https://gitlab.com/group/part/y.git"],
  ["github.com/x", ""],
  ["code.local/x/y", ""],
  ["~/code/shop", ""],
  ["C:\\code\\shop", ""],
  ["/srv/me@home:1/shop", ""],
  ["", ""],
])("in %j stands the repository %j", (text, address) => {
  expect(addressIn(text)).toBe(address);
});

it.each([
  ["https://example.com/team/shop.git", "shop"],
  ["git@example.com:shop.git/", "shop"],
  ["ssh://example.com/shop", "shop"],
])("%j is called %j", (address, name) => {
  expect(nameOf(address)).toBe(name);
});
