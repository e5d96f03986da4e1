import { expect, test } from "vitest";
import { namesOf } from "./project-names";

const at = (id: string, root: string, name = "shop", url = "") => ({ id, name, root, url });

test("a name that is used once stays as it is", () => {
  expect([...namesOf([at("shop", "/a/shop"), at("crm", "/a/crm", "crm")]).values()]).toEqual(["shop", "crm"]);
});

test("projects of one name are told apart by as little of the folder as is needed", () => {
  const names = namesOf([at("shop", "/home/a/shop"), at("shop-2", "/home/b/shop"), at("shop-3", "/home/b/store")]);
  expect([...names.values()]).toEqual(["shop (a/shop)", "shop (b/shop)", "shop (store)"]);
});

test("a repository is told by its address, and the same folder by the id", () => {
  const names = namesOf([at("one", "/x", "shop", "https://h/shop.git"), at("two", "/y/z"), at("three", "/y/z")]);
  expect([...names.values()]).toEqual(["shop (https://h/shop.git)", "shop (two)", "shop (three)"]);
});
