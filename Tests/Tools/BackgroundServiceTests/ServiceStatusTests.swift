// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing
import UserBus

/// What the service tells programs: its status, and its log as JSON.
@Suite(.ownThreads, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(5)))
struct `What programs read of the service` {
    @Test func `Its status has all members, in their order`() throws {
        let machine = try ScratchFolder()
        let service = try RunningNfcd(
            ["--json", "--allow-custom-schemes"],
            environment: ["NFC_READER": "virtual", "NFC_SYSTEM_ROOT": machine.path("")]
        ) {
            _ = try $0.add("https://b.example/1")
        }
        #expect(service.prints(#""event":"reading""#), "\(service.log)")
        let address = service.user.nfc.environment["DBUS_SESSION_BUS_ADDRESS"]
        let bus = try BusConnection(.user, address: address)
        let answer = try bus.ask(BusCall(RunningNfcd.object, "Status"), within: 30)
        let text = try #require(answer.first?.text)
        let names = text.matches(of: #/"([a-z_]+)":/#).map { String($0.1) }
        let conditions = Array(repeating: ["condition", "met", "source"], count: 7).flatMap(\.self)
        #expect(
            names == [
                "reading", "locked", "silent_login", "silent_savers", "waiting", "reader", "inbox_problem",
                "allows_custom_schemes", "conditions",
            ] + conditions
        )
        let status = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(status["reading"] as? Bool == true && status["locked"] as? Bool == false)
        #expect(status["silent_login"] as? Bool == false && status["silent_savers"] as? [String] == [])
        #expect(status["waiting"] as? Int == 1 && status["inbox_problem"] is NSNull)
        #expect(status["allows_custom_schemes"] as? Bool == true)
        let found = try #require(status["conditions"] as? [[String: Any]])
        #expect(status["reader"] as? String == found[0]["source"] as? String)
        #expect(
            found.compactMap { $0["condition"] as? String } == [
                "reader", "unlocked-once", "display", "reader-session", "wallet", "camera", "airplane-mode",
            ]
        )
        #expect(found.allSatisfy { $0["met"] as? Bool == true }, "\(text)")
        // What is not in the inbox can't be opened, and what is no identifier is no call.
        let unknown = String(repeating: "0", count: 20)
        let open = BusCall(RunningNfcd.object, "Open", [.string(unknown)])
        #expect(try bus.ask(open, within: 30) == [.string("unknown")])
        #expect(service.end() == 0)
        #expect(service.log.hasPrefix("{\"event\":\"started\",\"message\":\"The service runs.\"}\n"))
        #expect(service.log.contains("{\"event\":\"ended\",\"message\":\"The service ends.\"}\n"))
    }
}
