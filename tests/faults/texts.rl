# Texts, and modules.
write_text(folder + "old.txt", "old")
# --- then
kept = 0
write_text(folder + "old.txt", "new")
write_text(folder + "new.txt", read_text(folder + "old.txt"))
print(read_text(folder + "new.txt"), exists(folder + "none.txt"))
import "./modules/square.rl" as m
print(m.square(3))
