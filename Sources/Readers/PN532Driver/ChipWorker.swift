// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// The only user of a chip. It runs one operation at a time, on its own thread.
actor ChipWorker {
    private nonisolated let executor = QueueExecutor(target: nil)
    private nonisolated let interrupt = Interrupt()
    private nonisolated let lastFirmware = Locked<PN532Chip.Firmware?>(nil)
    private let line: ChipLineName
    private let limits: HostLimits
    private let openBus: BusOpener
    private var chip: PN532Chip?

    /// The target that receives the frames.
    var current: TagHandle?
    /// Whether that target was just found and has not received a command yet.
    var isUntouched = false
    /// Counts the polls for targets. A target from an earlier poll is no longer selected.
    var generation = 0

    init(_ line: ChipLineName, _ limits: HostLimits, _ openBus: @escaping BusOpener) {
        self.line = line
        self.limits = limits
        self.openBus = openBus
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// The firmware that the chip reported when it was last opened.
    nonisolated var firmware: PN532Chip.Firmware? { lastFirmware.withLock { $0 } }

    /// Runs an operation on the chip, and opens the chip if necessary.
    ///
    /// The operation stops when the caller's task is cancelled. If the chip stops answering, it is closed, and the next
    /// operation opens it again.
    nonisolated func perform<Value: Sendable>(
        _ work: @Sendable (isolated ChipWorker, PN532Chip) throws(LinkError) -> Value
    ) async throws(LinkError) -> Value {
        let cancellation = Cancellation(interrupt)
        let result = await withTaskCancellationHandler {
            await outcome(of: work, cancellation)
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    private func outcome<Value: Sendable>(
        of work: @Sendable (isolated ChipWorker, PN532Chip) throws(LinkError) -> Value,
        _ cancellation: Cancellation
    ) -> Result<Value, LinkError> {
        do throws(LinkError) {
            guard !cancellation.isCancelled else { throw ChipLineError.cancelled }
            let chip = try open(cancellation)
            defer { chip.cancellation = nil }
            return .success(try work(self, chip))
        } catch {
            if error.code == .readerUnavailable { forget() }
            return .failure(error)
        }
    }

    private func open(_ cancellation: Cancellation) throws(LinkError) -> PN532Chip {
        if let chip {
            chip.cancellation = cancellation
            return chip
        }
        // A link may lead elsewhere each time.
        let kind = ChipLineKind(path: line.path)
        let opened: any ChipLine =
            kind == .serial
            ? try SerialPort(path: line.path, speed: .initial, interrupt: interrupt)
            : try BusLine(path: line.path, kind: kind, interrupt: interrupt, open: openBus)
        opened.cancellation = cancellation
        let chip = try PN532Chip(opened, speed: kind == .serial ? line.speed : .initial, limits: limits)
        self.chip = chip
        let firmware = chip.firmware
        lastFirmware.withLock { $0 = firmware }
        return chip
    }

    private func forget() {
        chip = nil
        current = nil
        generation += 1
    }

    /// Switches the field off and closes the line, so that other programs can use the line.
    func close() {
        chip?.close()
        forget()
    }
}
