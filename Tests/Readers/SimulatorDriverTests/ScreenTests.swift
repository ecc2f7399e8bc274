// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCReaders
import PhoneScreens
import SimulatorDriver
import SimulatorTesting
import TestThreads
import Testing

/// The screens of an app, and the user's own simulator.
@Suite(.timeLimit(.minutes(5))) struct ScreenTests {
    @Test func `screen as JSON: each kind of item has exactly the members that it was given`() {
        let screen = PhoneScreen(
            title: "A \"title\"\u{202E}",
            back: PhoneScreen.Button("Back", id: "back", style: .plain),
            items: [
                .text("words", detail: "more"), .text("alone"), .heading("part"),
                .row("a", detail: "b", badge: "New", id: "row"), .row("c"), .button("Go", id: "go"),
                .alert(
                    "Sure?",
                    text: "Gone.",
                    buttons: [
                        PhoneScreen.Button("No", id: "no", style: .plain),
                        PhoneScreen.Button("Yes", id: "yes", style: .destructive), PhoneScreen.Button("OK", id: "ok"),
                    ]
                ),
            ]
        )
        let items = [
            #"{"kind":"text","text":"words","detail":"more"}"#, #"{"kind":"text","text":"alone"}"#,
            #"{"kind":"heading","text":"part"}"#,
            #"{"kind":"row","id":"row","text":"a","detail":"b","badge":"New"}"#, #"{"kind":"row","text":"c"}"#,
            #"{"kind":"button","id":"go","text":"Go","style":"filled"}"#,
            #"{"kind":"alert","text":"Sure?","detail":"Gone.","buttons":[{"id":"no","text":"No","style":"plain"},"#
                + #"{"id":"yes","text":"Yes","style":"destructive"},{"id":"ok","text":"OK","style":"filled"}]}"#,
        ]
        let start = #"{"title":"A \"title\"\u202e","back":{"id":"back","text":"Back","style":"plain"},"items":["#
        #expect(screen.json == start + items.joined(separator: ",") + "]}")
        #expect(PhoneScreen(title: "").json == #"{"title":"","items":[]}"#)
    }

    @Test func `app's phone: shows one screen after the other, and keeps the last hundred presses`() async throws {
        let simulator = FakeSimulator.answering()
        let reader = simulator.reader
        let host = try #require(ResolvedReader(reader).host as? SimulatorPhone)
        let phone = SimulatedPhone(host)
        try await reader.prepare()
        for (screen, text) in [
            (PhoneScreen(title: "One"), #"{"title":"One","items":[]}"#),
            (PhoneScreen(title: "Two"), #"{"title":"Two","#),
            (nil, "null"),
        ] as [(PhoneScreen?, String)] {
            phone.show(screen)
            try await simulator.receives(#""screen":\#(text)"#)
        }
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        host.onLink { _, url, _ in events.yield(url) }
        for number in 1...101 { simulator.push(#"{"event":"press","item":"\#(number)"}"#) }
        simulator.push(#"{"event":"link","activity_type":"T","url":"https://a.example/","message_hex":"d10100"}"#)
        // It came after all presses.
        for await _ in stream { break }
        var presses = phone.presses.makeAsyncIterator()
        for number in 2...101 { #expect(await presses.next() == "\(number)") }
    }

    @Test(.ownThreads, arguments: ["/run/user/1", "/", "", "run", nil] as [String?])
    func `socket of the user's simulator: in XDG_RUNTIME_DIR, else in /run/user, else in /tmp`(folder: String?) async {
        await #expect(processExitsWith: .success) { [folder] in
            _ = unsafe folder.map { unsafe setenv("XDG_RUNTIME_DIR", $0, 1) } ?? unsetenv("XDG_RUNTIME_DIR")
            // Root can be a user who has no folder.
            if geteuid() == 0, setuid(4_242_424) != 0 { exit(2) }
            var start = "/tmp/opencorenfc-\(geteuid())"
            let login = "/run/user/\(geteuid())"
            if unsafe access(login, W_OK) == 0 { start = login + "/opencorenfc" }
            if let folder, folder.hasPrefix("/") { start = folder + "/opencorenfc" }
            exit(SimulatorReader.defaultPath == start + "/simulator.sock" ? 0 : 1)
        }
    }
}
