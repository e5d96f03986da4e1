import { Button } from "antd";
import { type KeyboardEvent, type RefObject, useMemo } from "react";
import { useText } from "../i18n";
import { ROOT_PATH } from "../root-path";
import { usePlaces } from "../viewer/place";
import type { Found, Hit } from "./asked";
import { groupsOf } from "./grouped";
import { HitCard } from "./hit-card";
import { addressOf } from "./query";
import type { View } from "./view";
import "./hits.css";

type Do = () => void;

interface HitsProps {
  readonly found: Found;
  readonly names: ReadonlyMap<string, string>;
  /** Whether a newer answer is on its way. */
  readonly isOld: boolean;
  readonly view: View;
  readonly list: RefObject<HTMLOListElement | null>;
  readonly onLeave: () => void;
  readonly onMore?: () => void;
}

/** The places, file by file, best first. Up and down go through them, w asks why, Escape leads back to the question. */
export function Hits({ found, names, isOld, view, list, onLeave, onMore }: HitsProps) {
  const t = useText();
  const { place, open, close } = usePlaces();
  const { answer, query } = found;
  const groups = useMemo(() => groupsOf(answer.hits), [answer.hits]);
  const hasSeveral = new Set(answer.hits.map((hit) => hit.project_id)).size > 1;
  // Not of the address of the window, which follows what is typed: a list keeps its links until the next one comes.
  const address = useMemo(() => `${ROOT_PATH}/search?${addressOf(query)}`, [query]);
  const isShown = (hit: Hit) =>
    place?.path === hit.path && place.projectId === hit.project_id && place.startLine === hit.start_line;
  const onKeyDown = (event: KeyboardEvent<HTMLOListElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (movedTo(event, list.current, place ? close : undefined, onLeave)) event.preventDefault();
  };
  const more = answer.n_left_out_is_exact ? "search.more" : "search.more.least";
  return (
    <>
      <ol
        ref={list}
        className={["hits", `is-${view}`, isOld && "is-old"].filter(Boolean).join(" ")}
        aria-label={t("search.results")}
        aria-busy={isOld}
        onKeyDown={onKeyDown}
      >
        {groups.flatMap((group) =>
          group.hits.map((hit, number) => (
            <HitCard
              key={`${hit.project_id}\n${hit.path}\n${hit.start_line}-${hit.end_line}`}
              hit={hit}
              question={query.text}
              isWeak={answer.weak}
              project={hasSeveral ? (names.get(hit.project_id) ?? hit.project_id) : ""}
              view={view}
              isFurther={number > 0}
              isOpen={isShown(hit)}
              list={address}
              onOpen={open}
            />
          )),
        )}
      </ol>
      {onMore && (
        <Button className="hits-more" loading={isOld} onClick={onMore}>
          {t(more, { n: answer.n_left_out })}
        </Button>
      )}
    </>
  );
}

/** Does what a key says; `onClose` closes what is open, if something is. Returns whether the key meant something here. */
function movedTo(event: KeyboardEvent, list: HTMLElement | null, onClose: Do | undefined, onLeave: Do): boolean {
  const target = event.target as HTMLElement;
  const links = linksOf(list);
  const card = target.closest("[data-hit]");
  const place = links.findIndex((link) => card?.contains(link));
  switch (event.key) {
    case "ArrowDown":
      return focused(links[Math.min(place + 1, links.length - 1)]);
    case "ArrowUp":
      if (place === 0) onLeave();
      return place === 0 || focused(links[place - 1]);
    case "Home":
      return focused(links[0]);
    case "End":
      return focused(links.at(-1));
    case "w":
      card?.querySelector<HTMLElement>("[data-why]")?.click();
      return card !== null;
    case "Escape":
      (onClose ?? onLeave)();
      return true;
    default:
      return false;
  }
}

function linksOf(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>("[data-hit-link]") ?? [])];
}

function focused(link: HTMLElement | undefined): boolean {
  link?.focus({ preventScroll: true });
  link?.closest("[data-hit]")?.scrollIntoView({ block: "nearest" });
  return link !== undefined;
}

/** Puts the focus on the first place, if there is one. */
export function focusFirst(list: RefObject<HTMLOListElement | null>): void {
  focused(linksOf(list.current)[0]);
}

/** Opens the first place, if there is one. */
export function openFirst(list: RefObject<HTMLOListElement | null>): void {
  linksOf(list.current)[0]?.click();
}
