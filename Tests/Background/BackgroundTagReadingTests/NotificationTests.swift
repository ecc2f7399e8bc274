// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

/// Which notifications are shown, counted in the summary, closed and shown again. See ``Bench`` for the scripts.
struct NotificationTests {
    private func run(_ script: String, at place: SourceLocation = #_sourceLocation) throws {
        var bench = try Bench()
        try bench.run(script, at: place)
    }

    // MARK: The summary

    @Test func `twelve tags at once: eight notifications, and a summary of four that shows them with a click`() throws {
        try run(
            """
            arrive 1-7
            arrive 8 -> show 8
            arrive 9 -> sum 9
            arrive 10-12 -> sum 9 10 11 12
            kept -> 1 2 3 4 5 6 7 8 9 10 11 12
            left sum -> inbox
            counted 9-12 -> announced 9, announced 10, announced 11, announced 12
            click sum -> show 9, show 10, show 11, show 12, hide sum
            shown 9-12 -> nothing
            click sum -> nothing
            """
        )
    }

    @Test func `click on a summary of 22 entries: the newest eight are shown, the others stay in the summary`() throws {
        let shown = (23...30).map { "show \($0)" }.joined(separator: ", ")
        let rest = (9...22).map { "\($0)" }.joined(separator: " ")
        try run("arrive 1-30\nclick sum -> \(shown), sum \(rest)")
    }

    @Test func `summary: shrinks as entries are opened or cleared, and is withdrawn with the last one`() throws {
        try run(
            """
            arrive 1-10
            clear 9 -> sum 10
            click 10 -> open 10
            opened 10 -> remove 10, hide sum
            click sum -> nothing
            """
        )
    }

    @Test func `summary: counts an entry once it is saved, and never one that was cleared before`() throws {
        try run(
            """
            arrive 1-8
            read 9
            read 10
            saved 10 -> sum 10
            dismiss sum -> dismissed 10
            saved 9 -> sum 9
            read 11
            clear 11 -> nothing
            saved 11 -> nothing
            clear 9 -> hide sum
            """
        )
    }

    @Test func `summary whose entry could not be saved: counts the entry, which is only in memory until it is saved`()
        throws
    {
        try run(
            """
            arrive 1-9
            left sum -> inbox
            read 10
            unsaved 10 -> note notKept 10, sum 9 10
            left sum -> memoryOnly
            saved 10
            left sum -> inbox
            """
        )
    }

    @Test(arguments: ["busy", "failed"])
    func `entry being opened: not shown by a click on the summary, but alone if opening fails or is busy`(end: String)
        throws
    {
        let note = end == "failed" ? "note notDelivered 9, " : ""
        try run(
            """
            arrive 1-10
            click 9 -> open 9
            \(end) 9 -> \(note)show 9 \(end), sum 10
            dismiss sum -> dismissed 10
            clear 9 -> hide 9
            """
        )
        try run("arrive 1-10\nclick 9\nclick sum -> show 10, sum 9\nopened 9 -> remove 9, hide sum")
    }

    @Test(arguments: ["refused sum", "dismiss sum", "expire sum", "click sum", "clear 9"])
    func `summary that is no longer shown: a single entry to show again gets its own notification`(end: String) throws {
        try run("arrive 1-9\n\(end)\nrefused 1 -> nothing")
        if end == "refused sum" {
            try run("arrive 1-9\n\(end)\nready -> show 9")
        } else {
            try run("arrive 1-9\n\(end)\nrefused 1\nready -> show 1")
        }
    }

    @Test func `summary texts: the number of links, and the newest three hosts or targets`() throws {
        var bench = try Bench()
        try bench.run("arrive 1-8")
        let long = "www.bank.example.\(String(repeating: "a", count: 50)).evil.example"
        let rows = [
            ("https://\(long)/", "1 link is waiting", "“…\(long.suffix(39))”"),
            ("https://b.example/", "2 links are waiting", "“b.example”, “…\(long.suffix(39))”"),
            ("https://a.example/", "3 links are waiting", "“a.example”, “b.example”, “…\(long.suffix(39))”"),
            ("https://b.example/2", "4 links are waiting", "“b.example”, “a.example”, “…\(long.suffix(39))”"),
            ("tel:%2B49123", "5 links are waiting", "“+49123”, “b.example”, “a.example” and others"),
            ("mailto:c@d.example", "6 links are waiting", "“c@d.example”, “+49123”, “b.example” and others"),
        ]
        for (number, (uri, title, body)) in rows.enumerated() {
            _ = bench.read(message: try Fixture.message(uri), tag: [9, UInt8(number)])
            let summary = bench.handle(.stored(bench.lastID, isKept: true)).summary
            #expect(summary?.title == title && summary?.body == body, "\(uri)")
        }
    }

    // MARK: What is closed or can't be shown

    @Test func `refused notification: shown after the next one that is shown, or when the desktop is ready`() throws {
        try run(
            """
            arrive 1-2
            refused 1 -> nothing
            shown 2 -> announced 2, show 1
            refused 1 -> nothing
            ready -> show 1
            arrive 3-10
            refused sum -> nothing
            ready -> sum 9 10
            """
        )
        try run(
            """
            arrive 1-10
            refused 1 -> nothing
            counted 9-10 -> announced 9, announced 10, sum 1 9 10
            """
        )
    }

    @Test func `dismissed notification: not shown again, but can be clicked; an expired one is shown again`() throws {
        try run(
            """
            bring 1-2
            dismiss 1 -> dismissed 1
            expire 2 -> nothing
            ready -> nothing
            click 1 -> unmark 1, open 1
            opened 1 -> remove 1
            gone
            ready -> show 2
            """
        )
        try run("arrive 1\ndismiss 1 -> dismissed 1\nshown 1 -> announced 1\nclear 1 -> unmark 1")
        try run("arrive 1-10\ndismiss sum -> dismissed 9, dismissed 10\nclick sum -> nothing\narrive 11 -> sum 11")
    }

    @Test func `notification dismissed while its link is opened: shown again only if opening fails`() throws {
        let start = "bring 1\nclick 1\ndismiss 1 -> nothing\n"
        try run(start + "opened 1 -> remove 1")
        try run(start + "failed 1 -> note notDelivered 1, show 1 failed\nclick 1 -> open 1")
    }

    // MARK: A new desktop

    @Test func `desktop restarted: one entry is shown again, several in a summary`() throws {
        try run(
            """
            arrive 1
            shown 1 -> announced 1
            gone -> nothing
            ready -> show 1
            shown 1 -> nothing
            bring 2-3
            ready -> nothing
            gone
            ready -> sum 1 2 3
            gone
            ready -> sum 1 2 3
            """
        )
    }

    @Test func `desktop restarted while a link is opened: shown again only if opening fails`() throws {
        let start = "bring 1\nclick 1\ngone -> nothing\nready -> nothing\n"
        try run(start + "failed 1 -> note notDelivered 1, show 1 failed")
        try run(start + "opened 1 -> remove 1")
    }

    @Test func `desktop ended: an entry saved afterwards is in the summary; a single entry has its own notification`()
        throws
    {
        try run("arrive 1-8\nread 9\ngone -> nothing\nsaved 9 -> sum 9")
        try run("arrive 1-10\nclear 1-8\nclear 9 -> sum 10\ngone -> nothing\nready -> show 10")
    }

    // MARK: A new run of the service

    @Test(
        arguments: [
            ("1-5", "sum 1 2 3 4 5"), ("1", "show 1"), ("1-5 shown 1 dismissed 2", "sum 3 4 5"),
            ("1-5 shown 1-5", "nothing"), ("5 4 3 2 1", "sum 1 2 3 4 5"), ("1-4 counted 1-4", "nothing"),
            ("1-4 counted 1-4 77", "sum 1 2 3 4"), ("shown 77 counted 1-2", "hide 77, hide sum"),
            ("1-5 counted 1-4 new 5", "sum 1 2 3 4 5"), ("1-2 shown 1-2 5-7", "hide 5, hide 6, hide 7"),
            ("1 dismissed 1", "nothing"), ("1 shown 1 wanted 1", "nothing"), ("1 wanted 1", "show 1 locked"),
        ]
    )
    func `restarted service: unseen entries are summarised, shown and dismissed ones are left alone`(
        run: String,
        actions: String
    ) throws {
        try self.run("restore \(run) -> \(actions)")
    }

    @Test func `restarted service: takes over the summary that is still shown`() throws {
        try run("restore 1-4 counted 1-4\nclick sum -> show 1, show 2, show 3, show 4, hide sum")
        try run("restore 1-5 counted 1-4 new 5\ncounted 1-5 -> announced 5")
    }

    @Test func `restarted service: a dismissed link is not shown, and stays dismissed until it is opened`() throws {
        try run(
            """
            restore 1 dismissed 1 -> nothing
            ready -> nothing
            gone
            ready -> nothing
            stored -> 1
            click 1 -> unmark 1, open 1
            opened 1 -> remove 1
            """
        )
    }

    @Test func `restarted service: an entry without a link is noted once, and not shown`() throws {
        for isAnnounced in [false, true] {
            var bench = try Bench()
            let odd = InboxEntry(id: Bench.id(3), message: [1, 2, 3], isAnnounced: isAnnounced)
            let actions = bench.handle(.restored(PreviousRun(entries: [odd])))
            #expect(actions == (isAnnounced ? [] : [.note(.nothingToOpen(odd.id))]))
        }
    }

    // MARK: The lock

    @Test func `link clicked on a locked screen: a prompt is shown, and the link opens once after the unlock`() throws {
        try run(
            """
            lock -> nothing
            bring 1
            click 1 -> wanted 1, show 1 locked, ask
            expire 1 -> nothing
            shown 1 -> nothing
            click 1 -> show 1 locked, ask
            lock -> nothing
            unlock -> unmark 1, open 1
            unlock -> nothing
            opened 1 -> remove 1, hide 1
            """
        )
        try run("lock\nbring 1\nunlock -> nothing\nclick 1 -> open 1")
    }

    @Test func `links clicked on a locked screen: open in order after the unlock, except dismissed prompts`() throws {
        try run(
            """
            lock
            bring 1-4
            click 3
            click 1
            click 4
            shown 4
            dismiss 4 -> dismissed 4
            unlock -> unmark 1, open 1, unmark 3, open 3
            """
        )
        try run(
            """
            lock
            bring 1
            click 1
            dismiss 1 -> dismissed 1
            gone
            ready -> nothing
            click 1 -> wanted 1, show 1 locked, ask
            unlock -> unmark 1, open 1
            """
        )
    }

    @Test func `link on a locked screen that failed, or whose app has changed: the next click asks to unlock`() throws {
        try run(
            """
            bring 1
            click 1
            lock -> nothing
            failed 1 -> note notDelivered 1, show 1 failed
            click 1 -> wanted 1, show 1 locked, ask
            unlock -> unmark 1, open 1
            """
        )
        let start = "lock\nbring 1\nrouter Fox\nclick 1 -> show 1 in Fox\n"
        try run(start + "unlock -> nothing")
        try run(start + "click 1 -> wanted 1, show 1 locked, ask\nunlock -> unmark 1, browse 1")
    }

    @Test func `link with an unlock prompt: not in the summary, also after a restart of the desktop`() throws {
        try run(
            """
            arrive 1-10
            lock
            click 10 -> wanted 10, show 10 locked, sum 9, ask
            gone
            ready -> show 10 locked, sum 1 2 3 4 5 6 7 8 9
            """
        )
        try run(
            """
            restore 1-2 counted 1-2 wanted 1 -> nothing
            lock
            click sum -> show 2, sum 1
            unlock -> unmark 1, open 1
            opened 1 -> remove 1, hide sum
            """
        )
    }

    @Test func `link clicked on a locked screen, service restarted: opens after the next unlock`() throws {
        for shown in ["", "shown 1"] {
            try run("restore 1 \(shown) wanted 1\nlock -> nothing\nunlock -> unmark 1, open 1")
        }
        var bench = try Bench()
        let entry = InboxEntry(id: Bench.id(1), message: try Fixture.message(Fixture.link), isAnnounced: true)
        bench.reader = BackgroundReader(router: try Fixture.router(), isLocked: false)
        let run = PreviousRun(entries: [entry], shown: [entry.id], marks: [entry.id: .wanted])
        #expect(bench.handle(.restored(run)) == [])
        try bench.run("click 1 -> unmark 1, open 1")
    }
}
