import { expect, it } from "vitest";
import { addressIn } from "./repository";

it.each([
  ["https://example.com/shop.git", "https://example.com/shop.git"],
  [" git clone git@example.com:team/shop.git ", "git@example.com:team/shop.git"],
  ["ssh://git@example.com/shop", "ssh://git@example.com/shop"],
  ["~/code/shop", ""],
  ["C:\\code\\shop", ""],
  ["/srv/me@home:1/shop", ""],
  ["", ""],
])("in %j stands the repository %j", (text, address) => {
  expect(addressIn(text)).toBe(address);
});
