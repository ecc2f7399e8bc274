// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import UserBus

/// Runs the demo, from starting the service to showing the message in the app.
struct DemoRunner {
    let sandbox: DemoSandbox
    let output: DemoOutput
    let signals: DemoSignals
    let clicksAutomatically: Bool

    /// How long a step of the service or the app may take.
    private static let limit = Duration.seconds(20)
    /// How long a notification is shown on the desktop before it is clicked automatically.
    private static let viewTime = Duration.seconds(2)

    func run(address: String, usesDesktop: Bool) throws {
        let (relay, desktop) = try makeRelay(address, usesDesktop)
        defer { relay.closeAll() }
        let service = try DemoProgram(
            sandbox.programs.service,
            ["--json", "--tags", "\(sandbox.folder.path)/tags"],
            environment: sandbox.environment
        )
        let loop = DemoLoop(relay: relay, service: service, signals: signals)
        let reading = try loop.wait(Self.limit, "the service to read tags") { $0.message(of: "reading") }
        output.show("service", "The service nfcd runs: \(reading)")
        try sandbox.bringTag()
        output.show("tag", "A virtual NTAG215 comes near. Its link is \(DemoSandbox.link)")
        let notification = try loop.wait(Self.limit, "the notification") { event in
            if case .notification(.shown(let notification)) = event { notification } else { nil }
        }
        output.show(
            "notification",
            desktop == nil
                ? "The notification is on your desktop." : "The notification is shown here, \(desktop ?? ""):",
            lines: [notification.title, notification.body]
        )
        guard try click(notification, loop, relay, isOnDesktop: desktop == nil) else {
            throw CommandFailure(
                .cancelled,
                "dismissed",
                "The notification was dismissed, so the app was not opened. Everything that the demonstration created "
                    + "was removed. If a click dismisses notifications, as the left button does with dunst, press "
                    + "Return instead. Outside the demonstration the link would stay in the inbox: nfc inbox list"
            )
        }
        _ = try loop.wait(Self.limit, "the app to take the link") { $0.message(of: "delivered") }
        try showApp(loop)
    }

    /// Acts as the notification server. Returns why notifications are shown in the terminal; nil if they are shown on
    /// the desktop.
    private func makeRelay(_ address: String, _ usesDesktop: Bool) throws -> (NotificationRelay, reason: String?) {
        let bus = try BusConnection(.user, address: address)
        guard usesDesktop else { return (try NotificationRelay(on: bus), "because of --terminal") }
        do throws(BusError) {
            let desktop = try BusConnection(.user)
            return (try NotificationRelay(on: bus, desktop: desktop), nil)
        } catch {
            output.show(
                "no-desktop",
                "No program shows notifications on a desktop here, so they appear in this terminal. On a desktop, a program "
                    + "such as dunst shows them.",
                lines: [error.reason]
            )
            return (try NotificationRelay(on: bus), "instead of on a desktop")
        }
    }

    /// Waits for the click. Returns false if the user dismissed the notification.
    private func click(
        _ notification: NotificationRelay.Notification,
        _ loop: DemoLoop,
        _ relay: NotificationRelay,
        isOnDesktop: Bool
    ) throws -> Bool {
        loop.readsInput = !clicksAutomatically
        if clicksAutomatically {
            // Give the user time to see the notification.
            loop.alarm = ContinuousClock.now + (isOnDesktop ? Self.viewTime : .zero)
        } else {
            output.prompt(
                isOnDesktop ? "Click it, or press Return here." : "Press Return to click it, or Ctrl-C to stop."
            )
        }
        while true {
            switch try loop.wait(nil, "the click", find: { $0 }) {
            case .returnKey: try relay.click(notification.number)
            case .alarm:
                output.show("click", "Clicked automatically, because of --yes.")
                try relay.click(notification.number)
            case .inputEnded where !isOnDesktop:
                throw CommandFailure(
                    "no-click",
                    "Standard input has ended, so you can't click. Run the demonstration in a terminal, or with --yes."
                )
            case .notification(.activated(notification.number)): return true
            case .notification(.closed(notification.number, isDismissed: true)): return false
            default: continue
            }
        }
    }

    private func showApp(_ loop: DemoLoop) throws {
        try sandbox.folder.write("script", Array("show 1\n".utf8))
        let app = try DemoProgram(
            sandbox.programs.app,
            ["--plain"],
            input: "\(sandbox.folder.path)/script",
            environment: sandbox.environment.merging(["NFC_SHEET": "text"]) { $1 }
        )
        var lines: [String] = []
        let end = ContinuousClock.now + Self.limit
        while !app.isAtEnd, ContinuousClock.now < end {
            try signals.check()
            var poller = pollfd(fd: app.descriptor, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&poller, 1, 100)
            lines += app.lines()
        }
        guard !lines.isEmpty else {
            throw CommandFailure("no-message", "The app does not show the message. Run TagReader by itself.")
        }
        guard let window else {
            return output.show("app-opened", "The click opened Tag Reader, which shows:", lines: lines)
        }
        output.show("app-opened", "The click opened Tag Reader in its own window. It shows:", lines: lines)
        if clicksAutomatically {
            loop.alarm = ContinuousClock.now + Self.viewTime
        } else {
            output.prompt("Close the window, or press Return here, to remove everything.")
        }
        while kill(window, 0) == 0, self.window == window {
            switch try loop.next(within: .milliseconds(200)) {
            case .returnKey, .inputEnded, .alarm: return
            default: continue
            }
        }
    }

    /// The process ID of the app if it runs in a window; otherwise nil.
    private var window: pid_t? {
        let question = BusCall(.daemon, "GetConnectionUnixProcessID", [.string("org.opencorenfc.TagReader")])
        guard let bus = try? BusConnection(.user, address: sandbox.busAddress),
            let process = (try? bus.ask(question).first?.integer).flatMap(pid_t.init(exactly:)),
            let words = try? InputFile("/proc/\(process)/cmdline", limit: 1 << 20).readToEnd(),
            !words.split(separator: 0).contains(Array("--background".utf8)[...])
        else { return nil }
        return process
    }
}

final class DemoLoop {
    enum Event {
        case notification(NotificationRelay.Event)
        /// A line from the service's log.
        case service(event: String, message: String)
        case returnKey
        /// Standard input has ended, so no more keys can arrive.
        case inputEnded
        case alarm

        /// The message of a log line with the given event name; nil for other events.
        func message(of event: String) -> String? {
            if case .service(event, let message) = self { message } else { nil }
        }
    }

    private struct LogLine: Decodable {
        var event: String
        var message: String
    }

    private let relay: NotificationRelay
    private let service: DemoProgram
    private let signals: DemoSignals
    /// Whether to read keys, including those typed earlier.
    var readsInput = false
    /// When to send ``Event/alarm``; nil for never.
    var alarm: ContinuousClock.Instant?
    private var pendingEvents: [Event] = []
    private var lastMessage = ""

    init(relay: NotificationRelay, service: DemoProgram, signals: DemoSignals) {
        self.relay = relay
        self.service = service
        self.signals = signals
    }

    /// Waits for an event. `find` returns a result for the wanted event, and nil for others. Nil means no time limit.
    func wait<Value>(_ limit: Duration?, _ what: String, find: (Event) -> Value?) throws -> Value {
        let end = limit.map { ContinuousClock.now + $0 }
        while end.map({ ContinuousClock.now < $0 }) ?? true {
            guard let event = try next(within: .milliseconds(200)) else { continue }
            if let value = find(event) { return value }
            if case .service(let name, let message) = event, ["not-delivered", "not-shown"].contains(name) {
                throw CommandFailure(name, message)
            }
        }
        let reported = lastMessage.isEmpty ? "" : " The service reports: \(lastMessage)"
        throw CommandFailure("timeout", "Waiting for \(what) took too long.\(reported)")
    }

    /// Waits for the next event.
    ///
    /// - Returns: nil if there is no event within the limit.
    /// - Throws: ``CommandFailure`` if the demo was stopped, the service has ended, or the connection to the bus
    ///   was lost.
    func next(within limit: Duration) throws -> Event? {
        let end = ContinuousClock.now + limit
        while true {
            try take()
            if let alarm, alarm <= ContinuousClock.now {
                self.alarm = nil
                pendingEvents.append(.alarm)
            }
            if !pendingEvents.isEmpty { return pendingEvents.removeFirst() }
            guard ContinuousClock.now < end else { return nil }
            let inputs = readsInput ? [STDIN_FILENO] : []
            var pollers = (relay.descriptors + [service.descriptor] + inputs).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            _ = unsafe poll(&pollers, nfds_t(pollers.count), 50)
            if readsInput, pollers.last?.revents != 0 { readInput() }
        }
    }

    /// Collects pending events. Signals come first, because a signal may also have ended the service.
    private func take() throws {
        try signals.check()
        pendingEvents += try relay.process().map(Event.notification)
        for line in service.lines() {
            guard let line = try? JSONDecoder().decode(LogLine.self, from: Data(line.utf8)) else { continue }
            lastMessage = line.message
            pendingEvents.append(.service(event: line.event, message: line.message))
        }
        if service.isAtEnd, pendingEvents.isEmpty {
            throw CommandFailure("service-ended", "The service has ended. \(lastMessage)")
        }
    }

    private func readInput() {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        if count > 0 {
            pendingEvents += bytes.prefix(count).filter { $0 == 0x0A || $0 == 0x0D }.map { _ in .returnKey }
        } else {
            readsInput = false
            pendingEvents.append(.inputEnded)
        }
    }
}

final class DemoProgram {
    /// The process ID. Ending the demo also ends and reaps the process.
    let identifier: pid_t
    /// Becomes readable when the program prints something.
    let descriptor: Int32
    private var pending: [UInt8] = []
    private(set) var isAtEnd = false

    /// Starts a program. Without an input file, its standard input is empty.
    init(_ path: String, _ arguments: [String], input: String? = nil, environment: [String: String]) throws {
        guard let pipe = DescriptorPipe() else { throw Self.failure(path, "no pipe can be created") }
        _ = fcntl(pipe.reader, F_SETFL, O_NONBLOCK)
        descriptor = pipe.reader
        var launch = ProgramLaunch(path, [path] + arguments)
        launch.environment = environment
        launch.descriptors[1] = pipe.writer
        let file = input.map { unsafe open($0, O_RDONLY | O_CLOEXEC) }
        launch.descriptors[0] = file
        defer {
            close(pipe.writer)
            if let file { close(file) }
        }
        do throws(ProgramLaunch.Failure) {
            identifier = try launch.start()
        } catch {
            throw Self.failure(path, error.reason)
        }
    }

    deinit { close(descriptor) }

    private static func failure(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure("not-started", "\(path) can't be started: \(reason). Build it again: swift build")
    }

    /// Returns the complete lines printed since the last call.
    func lines() -> [String] {
        var block = [UInt8](repeating: 0, count: 16 << 10)
        while !isAtEnd {
            let count = unsafe read(descriptor, &block, block.count)
            if count > 0 {
                pending += block.prefix(count)
            } else if count == 0 {
                isAtEnd = true
            } else {
                break
            }
        }
        var parts = pending.split(separator: 0x0A, omittingEmptySubsequences: false)
        pending = isAtEnd ? [] : Array(parts.removeLast())
        return parts.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }
}
