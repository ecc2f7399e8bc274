// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import LinkDelivery
import PrivateStorage
import TestThreads
import Testing

@Suite struct `The inbox of a process that is killed` {
    @Test(.ownThreads) func `At each step of adding, marking and removing, nothing is lost or doubled`() async throws {
        let scratch = try Scratch("steps-\(getpid())")
        let folder = scratch.path + "/inbox"
        for step in 1...40 {
            try scratch.write("step", "\(step)")
            let before = try Self.entries(folder)
            let end = try await #require(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
                // An exit test of Swift 6.2 takes no values: the folder is named after the process that started it.
                let scratch = Scratch.path("steps-\(getppid())")
                let step = try #require(Int(String(contentsOfFile: scratch + "/step", encoding: .utf8)))
                try InboxUse.goOn(scratch + "/inbox", step: step)
            }
            try check(folder, before, end.standardOutputContent, "step \(step)")
        }
    }

    @Test(.ownThreads) func `At any moment, nothing is lost or doubled`() async throws {
        let scratch = try Scratch("moments-\(getpid())")
        let folder = scratch.path + "/inbox"
        for run in 1...10 {
            let before = try Self.entries(folder)
            let end = try await #require(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: Double.random(in: 0.01...0.2))
                    kill(getpid(), SIGKILL)
                }
                try InboxUse.goOn(Scratch.path("moments-\(getppid())") + "/inbox", step: 0)
            }
            try check(folder, before, end.standardOutputContent, "run \(run)")
        }
    }

    private static func entries(_ folder: String) throws -> Set<InboxEntry.ID> {
        Set(try Inbox(DirectoryStore(folder)).content().entries.map(\.id))
    }

    /// Compares an inbox with its earlier content and with the output of the killed process.
    private func check(_ folder: String, _ before: Set<InboxEntry.ID>, _ output: [UInt8], _ what: Comment) throws {
        var sure = before
        var open: Set<InboxEntry.ID> = []
        for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let id = InboxEntry.ID(String(words[1])) else { continue }
            switch words[0] {
            case "adding": open.insert(id)
            case "added":
                open.remove(id)
                sure.insert(id)
            case "removing":
                sure.remove(id)
                open.insert(id)
            default: open.remove(id)
            }
        }
        let inbox = Inbox(try DirectoryStore(folder))
        try inbox.recover()
        let content = try inbox.content()
        let found = Set(content.entries.map(\.id))
        #expect(content.damaged == [], what)
        #expect(found.count == content.entries.count, what)
        // Entries beyond the bound go, the oldest first.
        let kept = Set(sure.sorted().suffix(Inbox<DirectoryStore>.maximumEntries - 1))
        #expect(kept.isSubset(of: found), "\(what): \(kept.subtracting(found)) are lost")
        #expect(found.isSubset(of: sure.union(open)), "\(what): \(found.subtracting(sure)) came from nowhere")
        for entry in content.entries { #expect(entry.message == InboxUse.message(of: entry.id), what) }
        #expect(try DirectoryStore(folder).names().count == found.count, what)
    }
}

/// What a process does to an inbox until it is killed.
private enum InboxUse {
    /// Adds, marks and removes entries without end, and prints each change after it is done.
    ///
    /// - Parameter last: the number of the step before which the process kills itself or, for a step that writes, in the
    ///   middle of it; 0 for none.
    static func goOn(_ folder: String, step last: Int) throws {
        let inbox = Inbox(KillingStore(try DirectoryStore(folder), at: last))
        try inbox.recover()
        let kept = try inbox.content().entries.map(\.id.received).max() ?? 0
        for number in (kept + 1)... {
            let id = InboxEntry.ID(received: number, number: UInt32(number))
            say("adding \(id)")
            try inbox.add(InboxEntry(id: id, message: message(of: id)))
            say("added \(id)")
            try inbox.markAnnounced(id)
            if number % 3 == 0 {
                say("removing \(id)")
                try inbox.remove(id)
                say("removed \(id)")
            }
        }
    }

    static func message(of id: InboxEntry.ID) -> [UInt8] {
        [UInt8](repeating: UInt8(id.number & 255), count: Int(id.received % 50) * 100)
    }

    private static func say(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
