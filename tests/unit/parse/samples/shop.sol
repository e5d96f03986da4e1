// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import "./Prices.sol";
import {Ownable, Pausable as Stoppable} from "../access/Ownable.sol";
import * as Labels from "labels/Labels.sol";

/// Thrown when an order is not there.
error UnknownOrder(uint256 id);

uint256 constant MAX_LINES = 100;

struct Line {
    uint256 price;
    address seller;
}

function roundPrice(uint256 price) pure returns (uint256) {
    return price / 100;
}

interface IStore {
    function insert(uint256 id) external;
}

library Sums {
    function add(uint256 a, uint256 b) internal pure returns (uint256) {
        return a + b;
    }
}

/// @title Orders of the shop.
contract Orders is Ownable, IStore {
    using Sums for uint256;

    enum State { Open, Paid }

    struct Order {
        State state;
        Line[] lines;
    }

    event Paid(uint256 indexed id, address buyer);

    mapping(uint256 => Order) private orders;
    uint256 public counter;
    uint256 public constant FEE = 3;

    modifier onlyOpen(uint256 id) {
        require(orders[id].state == State.Open, "paid");
        _;
    }

    constructor(address owner) Ownable(owner) {
        counter = 0;
    }

    /// @notice The sum of an order.
    function total(uint256 id) public view returns (uint256 sum) {
        for (uint256 i = 0; i < orders[id].lines.length; i++) {
            sum = sum.add(orders[id].lines[i].price);
        }
        return roundPrice(sum);
    }

    function insert(uint256 id) external override onlyOpen(id) {
        if (id == 0) revert UnknownOrder(id);
        emit Paid(id, msg.sender);
    }

    receive() external payable {}
}
