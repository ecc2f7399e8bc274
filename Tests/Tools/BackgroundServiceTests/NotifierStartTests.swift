// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import SystemLibrary
import Testing
import UserBus

@testable import nfcd

/// What the service does while the bus starts the program that shows notifications, and when the bus is silent.
@Suite(.enabled(if: Bus.isInstalled, "dbus-daemon is not installed"), .timeLimit(.minutes(3)))
struct `The notifier of the service waits` {
    /// A program that never shows anything.
    private static let program = "/bin/sleep 1"

    /// What the notifier reports next.
    @MainActor private static func report(_ scene: NotifierScene) async throws -> [String] {
        for _ in 0..<30_000 {
            let reports = scene.reported()
            if !reports.isEmpty { return reports }
            try await Task.sleep(for: .milliseconds(1))
        }
        return []
    }

    @MainActor @Test func `for a program that is started, but not without end, and again for the next notification`()
        async throws
    {
        let scene = try NotifierScene(isOpen: false, program: Self.program, startingTime: .milliseconds(50))
        for number: UInt32 in 1...2 {
            scene.show(number)
            #expect(scene.reported() == [])
            let text = "org.freedesktop.Notifications was started, but does not respond."
            #expect(try await Self.report(scene) == ["not shown \(number): \(text)"])
        }
    }

    @MainActor @Test func `no more for a program to start when there is a desktop, however long that takes to answer`()
        async throws
    {
        let scene = try NotifierScene(isOpen: false, program: Self.program, startingTime: .milliseconds(100))
        scene.show(1)
        try scene.stage.open()
        try scene.stage.settle()
        let question = try scene.stage.call("GetCapabilities")
        // What was planned before is done when this is.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Later.run(after: .milliseconds(110)) { continuation.resume() }
        }
        #expect(scene.reported() == [])
        try question.answer([.strings(["actions"])])
        try scene.stage.settle()
        #expect(scene.reported() == ["ready"])
        #expect(try scene.stage.asked() == ["Notify 0 text"])
    }

    @MainActor @Test func `not for a bus that is silent, and says so`() throws {
        let scene = try NotifierScene(isOpen: false, patience: .seconds(1))
        scene.stage.stopBus()
        scene.show(1)
        scene.stage.continueBus()
        let reports = scene.reported()
        #expect(
            reports.count == 1 && reports[0].hasPrefix("not shown 1: The session bus does not answer."),
            "\(reports)"
        )
    }
}
