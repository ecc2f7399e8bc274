// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
import BackgroundTagReading
import Glibc
import PrivateStorage

// Usage: InboxProbe FOLDER STEP
// Adds, marks and removes entries for ever; says on standard output what it did, after each was done. Kills itself before
// the step of the number STEP, or, for a step that writes, in the middle of it; with 0 it goes on until it is killed.

guard CommandLine.arguments.count == 3, let last = Int(CommandLine.arguments[2]) else { exit(2) }
let inbox = Inbox(KillingStore(try DirectoryStore(CommandLine.arguments[1]), at: last))
try inbox.recover()
let kept = try inbox.content().entries.map(\.id.received).max() ?? 0

func say(_ text: String) {
    let octets = Array((text + "\n").utf8)
    _ = unsafe octets.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

for number in (kept + 1)... {
    let id = InboxEntry.ID(received: number, number: UInt32(number))
    let octets = [UInt8](repeating: UInt8(number & 255), count: Int(number % 50) * 100)
    say("adding \(id)")
    try inbox.add(InboxEntry(id: id, message: octets))
    say("added \(id)")
    try inbox.markAnnounced(id)
    if number % 3 == 0 {
        say("removing \(id)")
        try inbox.remove(id)
        say("removed \(id)")
    }
}
