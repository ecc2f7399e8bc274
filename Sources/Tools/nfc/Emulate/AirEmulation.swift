// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import ReaderEmulation
import TagLink
import TagProtocols
import VirtualTags

/// A tag over the air: a real PN532 shows it to phones and readers.
struct AirEmulation {
    let output: EmulationOutput
    /// Called with each command of a reader and its answer, on any thread.
    let onExchange: @Sendable (Exchange) -> Void

    /// Returns the tag to show for an image's tag: itself for Type 4. The chip can't be another type, so another tag's
    /// message is shown as a read-only Type 4 tag.
    static func tag(for file: ImageFile) async throws -> VirtualType4Tag {
        let tag = file.makeTag()
        if let tag = tag as? VirtualType4Tag { return tag }
        let message = try await ImageTagRunner.read(tag, file.contents).0.message
        guard let message, message.count <= maximumMessage else {
            throw CommandFailure(
                "no-message",
                "The image has no message that a PN532 could show as a Type 4 tag. Write one with: nfc tag write"
            )
        }
        var application = NDEFApplication(size: max(1024, message.count + 2))
        application.files[0xE104]?.replaceSubrange(
            0..<message.count + 2,
            with: UInt16(message.count).bigEndianBytes + message
        )
        // No write access, because nothing of it would be saved (NFC Forum T4T 1.0, 5.1.2).
        application.files[NDEFApplication.capabilityContainer]?[14] = 0xFF
        return VirtualType4Tag(card: ApplicationCard([application]))
    }

    /// The most that fits into a file of mapping version 2.0 (NFC Forum T4T 1.0, 5.1.2.1), with its length.
    private static let maximumMessage = 0x7FFF - 2

    /// Shows the tag until the signals end it, or the chip is gone.
    func run(
        _ line: String,
        _ tag: VirtualType4Tag,
        product: String,
        until signals: EmulationSignals
    ) async throws(EmulationError) -> EmulationSignals.End {
        let failure = Locked<String?>(nil)
        let shown: VirtualTagOnAir
        do throws(LinkError) {
            shown = try await VirtualTagOnAir(tag, on: line) { [onExchange] command, answer in
                onExchange(.command(command, answer: answer))
            } onFailure: { error in
                failure.withLock { $0 = error.reason }
                signals.readerIsGone()
            }
        } catch {
            throw EmulationError(error.reason)
        }
        output.readyAir(shown.name, product: product)
        let end = await signals.wait()
        await shown.end()
        if let reason = failure.withLock({ $0 }) { throw EmulationError(reason) }
        return end
    }
}
