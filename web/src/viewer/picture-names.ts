/** Whether a file is a picture by its name; a drawing is text as well. */
export function isPicture(path: string): boolean {
  return isDrawing(path) || isPhoto(path);
}

export function isDrawing(path: string): boolean {
  return /\.svg$/i.test(path);
}

/** Whether a file is a picture and no text. */
export function isPhoto(path: string): boolean {
  return /\.(png|jpe?g|gif|webp)$/i.test(path);
}
