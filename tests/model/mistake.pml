/* A model shows that something holds, and that it would not with each of the mistakes that it defines ("wrong: ..."). The
 * number in MISTAKE chooses one; 0 is what we do. */
byte mistake;

inline choose_mistake() {
    c_code { now.mistake = getenv("MISTAKE") ? atoi(getenv("MISTAKE")) : 0; }
}
