// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestThreads
import Testing
import UserBus

/// A bus whose program is stopped: its socket accepts data, but there are no answers.
@Suite(.ownThreads, .serialized, .enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `A bus that does not answer` {
    private let folder: ScratchFolder
    private let bus: Bus

    init() throws {
        folder = try ScratchFolder()
        bus = try Bus(folder.path(""))
    }

    @Test func `lets nobody in, and that is said`() throws {
        bus.stop()
        do throws(BusError) {
            _ = try BusConnection(.user, address: bus.address, patience: .milliseconds(300))
            Issue.record("There is a connection.")
        } catch {
            #expect(error.code == .silentBus)
            #expect(error.reason.hasPrefix("The session bus does not answer."), "\(error.reason)")
        }
    }

    @Test func `fails what is asked, at once after the first, until it goes on`() throws {
        let connection = try BusConnection(.user, address: bus.address)
        bus.stop()
        for _ in 0..<50 {
            do throws(BusError) {
                _ = try connection.isThere("org.example.App")
                Issue.record("There is an answer.")
            } catch {
                #expect(error.code == .silentBus)
            }
            #expect(connection.isSilent)
        }
        bus.goOn()
        // The late answer to the first question.
        while connection.isSilent { _ = try connection.receive() }
        #expect(try !connection.isThere("org.example.App"))
    }

    @Test func `is named by each command that asks it`() throws {
        let user = try User(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        _ = try user.add("https://good.site.example/x/1")
        try user.opener()
        bus.stop()
        for words in [["background", "status"], ["inbox", "open"]] {
            let outcome = try user.nfc.run(words)
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("The session bus does not answer."), "\(outcome.error)")
        }
        #expect(user.opened.isEmpty)
        let doctor = try user.nfc.run("background", "doctor")
        #expect(doctor.output.contains("no    bus: The session bus does not answer."), "\(doctor.output)")
        #expect(!doctor.output.contains("nfcd does not run"), "\(doctor.output)")
    }
}
