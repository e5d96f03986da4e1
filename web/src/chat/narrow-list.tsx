import { Drawer } from "antd";
import type { ReactNode } from "react";

interface NarrowListProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** The list of conversations where there is no room for it beside one. */
export default function NarrowList({ isOpen, onClose, children }: NarrowListProps) {
  return (
    <Drawer className="chat-drawer" open={isOpen} onClose={onClose} placement="left" size={300}>
      {children}
    </Drawer>
  );
}
