import { formatCents } from "./money";

export interface CartLine {
  article: string;
  cents: number;
  count: number;
}

/** The cart a visitor fills before signing in. */
export class Cart {
  private lines: CartLine[] = [];

  add(article: string, cents: number): void {
    const line = this.lines.find((other) => other.article === article);
    if (line) {
      line.count += 1;
    } else {
      this.lines.push({ article, cents, count: 1 });
    }
  }

  summary(): string {
    const cents = this.lines.reduce((sum, line) => sum + line.cents * line.count, 0);
    return `${this.lines.length} articles, ${formatCents(cents)}`;
  }
}
