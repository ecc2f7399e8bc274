// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import ProgramTesting
import TestThreads
import Testing
import UserBus

/// What the service keeps: through kills, a full disk, and other programs in its place.
@Suite(.ownThreads, .enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct ServiceInboxTests {
    // MARK: Kills

    #if DEBUG
        /// A service with a desktop that is killed at a step.
        private func service(dyingAt step: String, hasEntry: Bool, isLocked: Bool = false) throws -> (
            daemon: Daemon, desktop: Desktop, id: String
        ) {
            var desktop: Desktop?
            var id = ""
            let daemon = try Daemon(environment: ["NFC_DIE_AT": step]) { user, bus in
                try user.program("xdg-open")
                if hasEntry { id = try user.add() }
                desktop = try Desktop(on: bus, isLocked: isLocked)
            }
            return (daemon, try #require(desktop), id)
        }

        @Test(
            arguments: [("before-storing", 0), ("stored", 1), ("before-announcing", 1), ("announcing", 1)]
                as [(String, Int)]
        ) func `nfcd killed while a tag arrives: its link is in the inbox whole, or not at all`(
            step: String,
            count: Int
        ) throws {
            let (daemon, desktop, _) = try service(dyingAt: step, hasEntry: false)
            try daemon.waits(for: "reading")
            // The desktop has answered, so that the link is shown at once.
            waitWhile(!desktop.asked.contains("GetCapabilities"))
            _ = try daemon.ask("Status")
            try daemon.bring([try .uri("https://b.example/1")])
            #expect(daemon.ended() == SIGKILL)
            #expect(daemon.user.inbox.map { $0.hasSuffix(".new") } == Array(repeating: true, count: count))
            #expect(daemon.events.contains("arrived") == step.hasSuffix("announcing"))
        }

        /// The steps, what the person does, and whether the entry, a mark and an opened link are left.
        @Test(
            arguments: [
                ("announced", "nothing", true, "", false), ("marked-dismissed", "dismiss", true, "dismissed", false),
                ("delivering", "click", true, "", false), ("delivered", "click", true, "", true),
                ("removed", "click", false, "", true), ("unmarked", "unlock", true, "", false),
            ] as [(String, String, Bool, String, Bool)]
        ) func `nfcd killed at a step: entry, delivery flag and opened link are those of that step`(
            step: String,
            act: String,
            hasEntry: Bool,
            mark: String,
            isOpened: Bool
        ) throws {
            let (daemon, desktop, id) = try service(dyingAt: step, hasEntry: true, isLocked: act == "unlock")
            if act != "nothing" { try daemon.waits(for: "shown") }
            switch act {
            case "click": desktop.click()
            case "dismiss": desktop.dismiss()
            case "unlock":
                #expect(try daemon.ask("Open", id) == "locked")
                // The installed apps are read first.
                waitWhile(daemon.user.marks.isEmpty)
                desktop.unlock()
            default: break
            }
            #expect(daemon.ended() == SIGKILL)
            #expect(daemon.user.inbox == (hasEntry ? ["\(id).entry"] : []))
            #expect(daemon.user.marks.hasPrefix(mark.isEmpty ? "" : "\(id) \(mark) "))
            #expect(daemon.user.marks.isEmpty == mark.isEmpty && daemon.user.opened.isEmpty != isOpened)
            withExtendedLifetime(desktop) {}
        }
    #endif

    // MARK: The disk

    @Test(.enabled(if: TestProgram.underPermissions != nil, "setpriv is not installed"))
    func `nfcd with a full disk: logged once, and stored when the disk takes it again`() throws {
        let daemon = try Daemon(under: try #require(TestProgram.underPermissions))
        try daemon.waits(for: "reading")
        #expect(try daemon.status("inbox_problem") == "null")
        try daemon.user.folder.setMode(0o500, of: "state/nfc/inbox")
        for name in ["a", "b"] {
            try daemon.bring([try .uri("https://b.example/\(name)")], named: name)
            try daemon.waits(for: "not-kept")
        }
        #expect(daemon.events.filter { $0 == "failed inbox" }.count == 1)
        #expect(try daemon.status("waiting") == "2" && daemon.status("inbox_problem") != "null")
        #expect(daemon.user.inbox == [])
        try daemon.user.folder.setMode(0o700, of: "state/nfc/inbox")
        for _ in 0..<2 { try daemon.waits(for: "kept") }
        #expect(try daemon.user.inbox.count == 2 && daemon.status("inbox_problem") == "null")
        // Without --log-content nothing of a tag is in the log.
        #expect(!daemon.folder.text("log").contains("b.example"))
        #expect(daemon.end() == 0)
    }

    // MARK: Its place on the bus and in the runtime folder

    @Test func `nfcd, the method Status: a JSON object with its members in their order`() throws {
        let machine = try TestFolder()
        let daemon = try Daemon(["--allow-custom-schemes"], environment: ["NFC_SYSTEM_ROOT": machine.path]) { user, _ in
            try user.add()
        }
        try daemon.waits(for: "reading")
        let text = try #require(try daemon.ask("Status"))
        let conditions = ["reader", "unlocked-once", "display", "reader-session", "wallet", "camera", "airplane-mode"]
        let sources = text.matches(of: #/"source":"((?:[^"\\]|\\.)*)"/#).map { String($0.1) }
        let list = zip(conditions, sources).map { #"{"condition":"\#($0)","met":true,"source":"\#($1)"}"# }
        let expected =
            #"{"reading":true,"locked":false,"silent_login":false,"silent_savers":[],"waiting":1,"#
            + #""reader":"\#(sources.first ?? "")","inbox_problem":null,"allows_custom_schemes":true,"#
            + #""conditions":[\#(list.joined(separator: ","))]}"#
        #expect(text == expected)
        #expect(try daemon.ask("Open", String(repeating: "0", count: 20)) == "unknown")
        #expect(daemon.end() == 0)
        #expect(daemon.log.first?.description == #"{"event":"started","message":"The service is running."}"#)
        #expect(daemon.log.last?.description == #"{"event":"ended","message":"The service is stopping."}"#)
    }

    @Test func `nfcd: ends with status 1 if another nfcd is on the bus, or if the bus ends`() throws {
        let daemon = try Daemon()
        try daemon.waits(for: "reading")
        let second = try TestProgram("nfcd", daemon.user.nfc.environment).run("--json")
        #expect(second.status == 1 && second["error"] == "already-running")
        daemon.bus.end()
        try daemon.waits(for: "failed no-bus")
        #expect(daemon.ended() == 1 && daemon.events.last == "failed no-bus")
    }

    @Test func `nfcd with an unusable runtime folder: ends and removes nothing`() throws {
        for isShared in [true, false] {
            let place = try TestFolder()
            try place.makeFolder("run/nfc")
            for name in ["run", "run/nfc"] { try place.setMode(isShared ? 0o777 : 0o700, of: name) }
            try place.write("run/nfc/background", "mine")
            let daemon = try Daemon(environment: ["XDG_RUNTIME_DIR": place.path("run")])
            let line = try daemon.waits(for: "failed service")
            let path = place.path("run/nfc/background")
            let reason =
                isShared ? "can be changed by another user" : "\(path) is not a socket. Move it away"
            #expect(line["message"]?.contains(reason) == true, "\(line)")
            #expect(daemon.ended() == 1 && place.text("run/nfc/background") == "mine")
        }
    }
}

/// The service and the association files of apps' sites.
@Suite(.ownThreads, .enabled(if: SessionBus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct ServiceLinkTests {
    @Test func `nfcd: a site that failed for long is asked 2 s after the start, a new app's site when it is installed`()
        throws
    {
        let begin = ContinuousClock.now
        // An app of the system, whose site has failed so often that it is asked every six hours, and now.
        let daemon = try Daemon { user, _ in
            try user.folder.remove("data/nfc")
            let old = #"{"app_id":"TEAM.org.example.old","associated_domains":["applinks:old.invalid"]}"#
            try user.folder.write("none/nfc/apps/org.example.Old.json", old)
            let entry = "[Desktop Entry]\nType=Application\nName=Old\nDBusActivatable=true\n"
            try user.folder.write("none/applications/org.example.Old.desktop", entry)
            let asked = Int64(Date().timeIntervalSince1970) - 7 * 3600
            try user.folder.write(
                "cache/nfc/links/old.invalid.links",
                "nfc-links 2 \(asked) - - 12 unreachable: gone\n"
            )
        }
        let first = try daemon.waits(for: "links")
        #expect(first["message"]?.hasPrefix("The links of old.invalid: ") == true)
        #expect(first["message"]?.hasSuffix("in 360 minutes, or when the network is back.") == true)
        #expect(ContinuousClock.now - begin >= .seconds(2))
        try daemon.user.installApp(domains: ["new.invalid"])
        let names = try (0..<2).map { _ in
            try daemon.waits(for: "links")["message"]?.split(separator: " ")[3].description
        }
        #expect(names.contains("new.invalid:"))
        let entry = try daemon.user.nfc.run("links", "list", "--json").objects.first { $0["domain"] == "new.invalid" }
        #expect(try #require(entry?["next_try_s"].flatMap { Int($0) }) <= 60)
        #expect(daemon.end() == 0)
    }

    @Test func `nfcd: subscribes to changes of addresses and routes of IPv4 and IPv6`() throws {
        let daemon = try Daemon()
        try daemon.waits(for: "reading")
        let table = try String(contentsOfFile: "/proc/\(daemon.identifier)/net/netlink", encoding: .utf8)
        // Each line (netlink(7)): the address in the kernel, the protocol, the process, the groups.
        let lines: [[Substring]] = table.split(separator: "\n").map { $0.split(separator: " ") }
        let process = String(daemon.identifier)
        let own = lines.filter { line in line.count > 3 && line[1] == "0" && line[2] == process }
        // RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and RTMGRP_IPV6_ROUTE.
        let all: UInt32 = 0x10 | 0x40 | 0x100 | 0x400
        #expect(own.contains { line in UInt32(line[3], radix: 16) == all }, "\(table)")
        #expect(daemon.end() == 0)
    }

    @Test func `nfcd with hostile association files: answers and ends while they are compiled`() throws {
        // Near the limit of 128 KB; its rules grow while they are compiled.
        let values = (0..<2000).map { "\"value\($0)\"" }.joined(separator: ",")
        let rules = Array(repeating: #"{"/":"/$(v)/x","?":{"a":"$(v)"}}"#, count: 3100).joined(separator: ",")
        let details = #"[{"appIDs":["TEAM.org.example.reader"],"components":[\#(rules)]}]"#
        let file = #"{"applinks":{"substitutionVariables":{"v":[\#(values)]},"details":\#(details)}}"#
        try #require((120_000...131_072).contains(file.utf8.count))
        let daemon = try Daemon { user, _ in
            let domains = (0..<20).map { "site\($0).invalid" }
            try user.installApp(domains: domains)
            for domain in domains { try user.cache(file, of: domain) }
            try user.add()
        }
        try daemon.waits(for: "started")
        #expect(try daemon.status("reading") == "false" && daemon.status("waiting") == "1")
        #expect(daemon.end() == 0 && !daemon.events.contains("reading"))
    }
}
