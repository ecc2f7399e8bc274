// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import SimulatorModel
import TagTrace
import Testing
import UniversalLinks

@Suite(.timeLimit(.minutes(1))) struct BackgroundTests {
    private static let app = "TEAM.org.example.reader"

    private static let obstacles: [(JSON, String)] = [
        (["do": "camera", "on": true], "A camera is in use."),
        (["do": "airplane", "on": true], "Airplane mode is on."),
        (["do": "wallet", "on": true], "A wallet is in use."),
        (["do": "screen", "on": false], "The display is off."),
        (["do": "restart_phone"], "The screen has not been unlocked since the system started."),
    ]

    /// A simulator with an app for the pages of shop.example, except those below /old.
    private func start() throws -> (Bench, Following) {
        let bench = Bench()
        let following = Following(bench.simulator)
        let file = """
            {"applinks":{"details":[{"appIDs":["\(Self.app)"],
              "components":[{"/":"/old/*","exclude":true},{"/":"/*"}]}]}}
            """
        let domain = try #require(AssociatedDomain("applinks:shop.example"))
        let installed = InstalledApp(
            id: Self.app,
            name: "Shop",
            desktopID: "org.example.reader",
            associatedDomains: [domain]
        )
        let matcher = LinkMatcher(try AssociationFile(parsing: Data(file.utf8)))
        bench.simulator.install(LinkRouter(apps: [installed], associations: ["shop.example": matcher]))
        bench.simulator.start()
        return (bench, following)
    }

    private func tap(_ bench: Bench, _ link: String) throws {
        let id = try bench.add(["product": "NTAG213", "link": .string(link)])
        try bench.act(["do": "hold", "tag": .string(id)])
    }

    private func notifications(_ bench: Bench) throws -> [JSON] { try bench.state("notifications").array ?? [] }

    private func recording(_ bench: Bench) throws -> (Recording, notes: [JSON]) {
        let answer = try bench.act(["do": "export_trace", "format": "recording"])
        let bytes = [UInt8](try #require(Data(base64Encoded: answer["base64"]?.string ?? "")))
        return (try Recording(parsing: bytes), answer["notes"]?.array ?? [])
    }

    private func exchangeCount(_ bench: Bench) throws -> Int { try recording(bench).0.exchangeCount }

    @Test("Link of an app: announced in a notification; opening that delivers the link and its message to the app")
    func openingApp() async throws {
        let (bench, following) = try start()
        let program = try TestProgram(bench.simulator, name: "Shop")
        try tap(bench, "https://shop.example/a")
        try await following.until { try !notifications(bench).isEmpty }
        let notification = try #require(try notifications(bench).first)
        #expect(notification["body"] == "Open “shop.example” in Shop")
        #expect(try bench.state("phone")["banner"]?["id"] == notification["id"])
        let why = try bench.act(["do": "why"])
        #expect(why["outcome"] == "announced")
        #expect(why["app"]?.string == (try bench.state("apps").array?.first?["id"]?.string))
        #expect(
            why["steps"]?.array?.contains { $0["text"]?.string?.contains("its app opens the link") == true } == true
        )
        try bench.act(["do": "open_notification", "notification": try #require(notification["id"])])
        let link = try #require(try await program.awaitedEvents("link").last)
        #expect(link["url"] == "https://shop.example/a")
        #expect(link["message_hex"]?.string?.hasPrefix("d101") == true)
        #expect(try bench.act(["do": "why"])["outcome"] == "opened")
        #expect(try notifications(bench).isEmpty)
        await bench.simulator.stop()
    }

    @Test("Tag that comes near while an app's sheet waits for one: not read in the background, until the sheet is gone")
    func sheetThatWaits() async throws {
        let (bench, following) = try start()
        let program = try TestProgram(bench.simulator, name: "Shop")
        // The app takes its turn a moment after its sheet has come.
        program.ask(["do": "sheet", "state": "ready", "title": "", "message": ""])
        try tap(bench, "https://shop.example/a")
        // Its turn comes when background reading has stopped.
        program.ask(["do": "claim"])
        #expect(try notifications(bench).isEmpty)
        program.ask(["do": "release"])
        program.ask(["do": "sheet", "state": "dismissed"])
        try await following.until { try !notifications(bench).isEmpty }
        await bench.simulator.stop()
    }

    @Test("Link that the association file excludes: opens in the browser, and the explanation names the rule")
    func excluded() async throws {
        let (bench, following) = try start()
        try tap(bench, "https://shop.example/old/a")
        try await following.until { try !notifications(bench).isEmpty }
        #expect(try notifications(bench).first?["body"] == "Open “shop.example” in the browser")
        let why = try bench.act(["do": "why", "notification": try #require(try notifications(bench).first?["id"])])
        let texts = why["steps"]?.array?.compactMap { $0["text"]?.string } ?? []
        #expect(texts.contains { $0.contains("excludes the link") })
        await bench.simulator.stop()
    }

    @Test("Link opened on a locked phone: delivered after the unlock")
    func locked() async throws {
        let (bench, following) = try start()
        let program = try TestProgram(bench.simulator, name: "Shop")
        try bench.act(["do": "lock"])
        try tap(bench, "https://shop.example/a")
        try await following.until { try !notifications(bench).isEmpty }
        #expect(try bench.state("phone")["prompt"] == .null)
        let id = try #require(try notifications(bench).first?["id"])
        try bench.act(["do": "open_notification", "notification": id])
        #expect(try bench.state("phone")["prompt"] == "unlock")
        #expect(program.events("link").isEmpty)
        try bench.act(["do": "unlock"])
        #expect(try await program.awaitedEvents("link").count == 1)
        #expect(try bench.state("phone")["prompt"] == .null)
        await bench.simulator.stop()
    }

    @Test(
        "Phone that can't read in the background: nothing is announced, and the explanation names the obstacle",
        arguments: obstacles
    )
    func notRead(_ action: JSON, _ reason: String) async throws {
        let (bench, _) = try start()
        try bench.act(action)
        try tap(bench, "https://shop.example/a")
        let why = try bench.act(["do": "why"])
        #expect(why["title"]?.string == reason)
        #expect(why["outcome"] == "not-read")
        #expect(try notifications(bench).isEmpty)
        await bench.simulator.stop()
    }

    @Test("Radio off: no tag is read; a tag still near is announced when the radio is on again")
    func radioOff() async throws {
        let (bench, following) = try start()
        try bench.act(["do": "switch", "name": "radio", "value": false])
        try tap(bench, "https://shop.example/a")
        let why = try bench.act(["do": "why"])
        #expect(why["outcome"] == "not-read" && why["title"] == "The phone's radio is off.")
        #expect(try notifications(bench).isEmpty)
        try bench.act(["do": "switch", "name": "radio", "value": true])
        try await following.until { try !notifications(bench).isEmpty }
        #expect(try bench.act(["do": "why"])["outcome"] == "announced")
        await bench.simulator.stop()
    }

    @Test("Tag with a text and no link: nothing opens, and the explanation gives the reason")
    func noLink() async throws {
        let (bench, following) = try start()
        #expect(bench.refusal(["do": "why"])?.code == "no-decision")
        let id = try bench.add(["product": "NTAG213", "text": "no link"])
        try bench.act(["do": "hold", "tag": .string(id)])
        try await following.until { bench.refusal(["do": "why"]) == nil }
        #expect(try bench.act(["do": "why"])["title"]?.string?.contains("No record is a URI record") == true)
        await bench.simulator.stop()
    }

    @Test("Program that claims the reader: background reading waits until it is released")
    func handingOver() async throws {
        let (bench, following) = try start()
        let program = try TestProgram(bench.simulator, name: "Scanner")
        program.send(["id": 99, "do": "claim"])
        try await following.until { program.received.contains { $0["granted"] == true } }
        try tap(bench, "https://shop.example/a")
        program.ask(["do": "carrier", "on": true])
        #expect(program.frame("nfc-v", "260100")?["error"] == "timeout")
        #expect(try notifications(bench).isEmpty)
        program.ask(["do": "release"])
        try await following.until { try !notifications(bench).isEmpty }
        await bench.simulator.stop()
    }

    @Test("Tag that an app has read: not announced while it stays")
    func readByApp() async throws {
        let (bench, following) = try start()
        let program = try TestProgram(bench.simulator, name: "Scanner")
        program.send(["id": 99, "do": "claim"])
        try await following.until { program.received.contains { $0["granted"] == true } }
        try tap(bench, "https://shop.example/a")
        #expect(program.selectType2()?["bytes"] == "00")
        program.ask(["do": "release"])
        // Another tag shows that background reading has looked.
        try tap(bench, "https://shop.example/b")
        try await following.until { try !notifications(bench).isEmpty }
        #expect(try notifications(bench).map { $0["url"] } == ["https://shop.example/b"])
        await bench.simulator.stop()
    }

    @Test("Banner: disappears after 6 seconds, and its notification stays in the list")
    func bannerTime() async throws {
        let (bench, following) = try start()
        try tap(bench, "https://shop.example/a")
        try await following.until { try !notifications(bench).isEmpty }
        bench.clock.advance(by: .milliseconds(5999))
        #expect(try bench.state("phone")["banner"] != .null)
        try await bench.passTime { try bench.state("phone")["banner"] == .null }
        #expect(try notifications(bench).count == 1)
        await bench.simulator.stop()
    }

    @Test("Tag without a link on a locked phone: the prompt says so for 2 seconds, and replaces an earlier banner")
    func noUsableData() async throws {
        let (bench, following) = try start()
        try bench.act(["do": "lock"])
        try tap(bench, "https://shop.example/a")
        try await following.until { try bench.state("phone")["banner"] != .null }
        let id = try bench.add(["product": "NTAG213", "text": "no link"])
        try bench.act(["do": "hold", "tag": .string(id)])
        try await following.until { try bench.state("phone")["prompt"] == "no-usable-data" }
        #expect(try bench.state("phone")["banner"] == .null)
        #expect(try bench.act(["do": "why"])["outcome"] == "nothing")
        bench.clock.advance(by: .milliseconds(1999))
        #expect(try bench.state("phone")["prompt"] == "no-usable-data")
        try await bench.passTime { try bench.state("phone")["prompt"] == .null }
        let notification = try #require(try notifications(bench).first?["id"])
        try bench.act(["do": "open_notification", "notification": notification])
        #expect(try bench.state("phone")["prompt"] == "unlock")
        try bench.act(["do": "screen", "on": false])
        #expect(try bench.state("phone")["prompt"] == .null)
        await bench.simulator.stop()
    }

    @Test("Link of an app that does not run: delivered once when the app is started")
    func startedLater() async throws {
        let (bench, following) = try start()
        try tap(bench, "https://shop.example/a")
        try await following.until { try !notifications(bench).isEmpty }
        let id = try #require(try notifications(bench).first?["id"])
        try bench.act(["do": "open_notification", "notification": id])
        let program = try TestProgram(bench.simulator, name: "Shop")
        #expect(try await program.awaitedEvents("link").map { $0["url"] } == ["https://shop.example/a"])
        program.close()
        let again = try TestProgram(bench.simulator, name: "Shop")
        #expect(try await again.awaitedEvents("switches").count == 1)
        #expect(again.events("link").isEmpty)
        await bench.simulator.stop()
    }

    @Test("Trace with background reading, exported as a recording: only programs' exchanges, and a note about the rest")
    func recording() async throws {
        let (bench, following) = try start()
        try tap(bench, "https://shop.example/a")
        try await following.until { try !notifications(bench).isEmpty }
        // Nobody else has read yet.
        let (own, none) = try recording(bench)
        #expect(own.exchangeCount > 0 && none.isEmpty)
        let program = try TestProgram(bench.simulator, name: "Scanner")
        program.send(["id": 99, "do": "claim"])
        try await following.until { program.received.contains { $0["granted"] == true } }
        program.ask(["do": "carrier", "on": true])
        #expect(program.frame("nfc-v", "260100")?["error"] == "timeout")
        let (recording, notes) = try recording(bench)
        #expect(recording.exchangeCount == 1)
        #expect(notes == ["Background reading is not included."])
        await bench.simulator.stop()
    }

    @Test("Several notifications: newest first, also in a saved and opened file; dismissing all leaves none")
    func orderAfterRestart() async throws {
        let (bench, following) = try start()
        for (index, page) in ["a", "b", "c"].enumerated() {
            try tap(bench, "https://shop.example/\(page)")
            try await following.until { try notifications(bench).count == index + 1 }
            try bench.act(["do": "leave"])
            bench.clock.advance(by: .seconds(10))
        }
        let urls = try notifications(bench).map { $0["url"] }
        #expect(urls == ["c", "b", "a"].map { .string("https://shop.example/\($0)") })
        let file = try #require(try bench.act(["do": "save"])["base64"])
        try bench.act(["do": "dismiss_notification", "notification": "all"])
        #expect(try notifications(bench).isEmpty)
        await bench.simulator.stop()
        let other = Bench()
        try other.act(["do": "open", "base64": file])
        #expect(try notifications(other).map { $0["url"] } == urls)
    }

    @Test("Opened file: background reading continues with the new state")
    func openedFile() async throws {
        let file = try #require(try Bench().act(["do": "save"])["base64"])
        let (bench, following) = try start()
        for page in ["a", "b"] {
            try bench.act(["do": "open", "base64": file])
            try tap(bench, "https://shop.example/\(page)")
            try await following.until { try !notifications(bench).isEmpty }
            #expect(try notifications(bench).map { $0["body"] } == ["Open “shop.example” in Shop"])
            #expect(try notifications(bench).map { $0["url"] } == [.string("https://shop.example/\(page)")])
        }
        await bench.simulator.stop()
    }

    @Test("Tag that is read while a file is opened: not announced", arguments: 1...16)
    func openedFileDuringRead(exchange: Int) async throws {
        let file = try #require(try Bench().act(["do": "save"])["base64"])
        let (bench, _) = try start()
        let id = try bench.add(["product": "NTAG213", "link": "https://shop.example/a"])
        // Counted from here: the first looks find no tag.
        let first = try exchangeCount(bench)
        let (isBegun, isReplaced) = (Locked(false), Locked(false))
        // Called by the thread that reads, after each exchange: also after the last one, before it tells what it has read.
        bench.simulator.onChange {
            _ = bench.simulator.takeChanges()
            guard (try? self.exchangeCount(bench)).map({ $0 >= first + exchange }) == true else { return }
            let isFirst = isBegun.withLock { isBegun in
                defer { isBegun = true }
                return !isBegun
            }
            guard isFirst else { return }
            _ = try? bench.act(["do": "open", "base64": file])
            isReplaced.withLock { $0 = true }
        }
        _ = try? bench.act(["do": "hold", "tag": .string(id)])
        while try !isBegun.withLock({ $0 }) && notifications(bench).isEmpty {
            try await Task.sleep(for: .milliseconds(1))
        }
        // Every reading has a first exchange.
        if exchange == 1 { #expect(isBegun.withLock { $0 }) }
        // Else a reading with fewer exchanges is over.
        if isBegun.withLock({ $0 }) {
            while !isReplaced.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
            try tap(bench, "https://shop.example/b")
            try await bench.passTime { try !notifications(bench).isEmpty }
            #expect(try notifications(bench).map { $0["url"] } == ["https://shop.example/b"])
        }
        await bench.simulator.stop()
    }

    @Test("Notification in a saved and opened file: kept and dismissible, and not shown in a banner again")
    func restart() async throws {
        let (bench, following) = try start()
        try tap(bench, "https://shop.example/a")
        try await following.until { try !notifications(bench).isEmpty }
        let file = try #require(try bench.act(["do": "save"])["base64"])
        await bench.simulator.stop()
        let other = Bench()
        try other.act(["do": "open", "base64": file])
        #expect(try notifications(other).map { $0["url"] } == ["https://shop.example/a"])
        #expect(try other.state("phone")["banner"] == .null)
        try other.act([
            "do": "dismiss_notification", "notification": try #require(try notifications(other).first?["id"]),
        ])
        #expect(try notifications(other).isEmpty)
    }
}
