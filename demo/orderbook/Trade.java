package orderbook;

/** One execution: `buyer` pays `price * quantity` to `seller`. */
record Trade(int buyer, int seller, int price, int quantity) {
    long cash() {
        return (long) price * quantity;
    }
}
