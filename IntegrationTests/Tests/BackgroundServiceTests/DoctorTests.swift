// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension BackgroundService {
    @Suite struct `nfc background doctor` {
        private func examine(_ desk: Desk) async throws -> (status: Int32, found: [String: [String: Any]]) {
            let outcome = try await desk.nfc("background", "doctor", "--json")
            var found: [String: [String: Any]] = [:]
            for line in outcome.lines {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
                let name = [object["check"], object["subject"]].compactMap { $0 as? String }.joined(separator: " ")
                found[name] = object
            }
            return (outcome.status, found)
        }

        @Test func `nfc background doctor, all in order: status 0, and each part works`() async throws {
            let desk = try await Desk()
            try desk.installBrowser()
            try desk.installApp()
            try await desk.start()
            let (status, found) = try await examine(desk)
            #expect(status == 0, "\(found)")
            for name in ["service", "reader", "bus", "notifications", "lock", "scheme https", "scheme mailto"] {
                #expect(found[name]?["state"] as? String == "works", "\(name): \(found[name] ?? [:])")
            }
            #expect(
                found["scheme https"]?["message"] as? String
                    == "Browser opens it (\(desk.folder.path)/data/applications/browser.desktop)."
            )
            #expect(found["association tagreader.example"]?["message"] as? String == "The site answered just now.")
            #expect((found["lock"]?["message"] as? String)?.hasPrefix("logind reports the lock of session c1") == true)
            #expect((found["notifications"]?["message"] as? String)?.contains("actions, body, body-markup") == true)
        }

        @Test func `nfc background doctor, parts missing: status 1, and each part is named`() async throws {
            let desk = try await Desk(notifications: false, login: false)
            try desk.installBrowser()
            try await desk.start("--reader", "none", waitsFor: "not-reading")
            var (status, found) = try await examine(desk)
            #expect(status == 1)
            #expect(found["service"]?["state"] as? String == "works")
            #expect(found["reader"]?["error"] as? String == "reader-fails")
            #expect(found["notifications"]?["error"] as? String == "notifications-fails")
            #expect(found["lock"]?["state"] as? String == "limited")
            // Notifications that can't be clicked.
            try await desk.ask("notify_on", "body")
            try await desk.ask("saver_on_bus")
            try await desk.kill()
            (status, found) = try await examine(desk)
            #expect(status == 1)
            #expect(found["service"]?["message"] as? String == "nfcd is not running.")
            #expect(found["notifications"]?["state"] as? String == "limited")
            #expect(found["lock"]?["message"] as? String == "org.gnome.ScreenSaver reports the lock, and prompts.")
        }
    }
}
