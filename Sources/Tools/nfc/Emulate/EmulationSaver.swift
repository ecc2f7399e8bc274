// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink
import VirtualTags

/// Saves what other programs write to a tag: soon after each write, and at the end.
final class EmulationSaver: Sendable {
    private let file: ImageFile
    private let tag: any VirtualTag
    private let out: String?
    private let onSaved: @Sendable (String) -> Void
    private let saved: Locked<TagContents?>
    private let changes: AsyncStream<Void>.Continuation

    /// Starts to save what changes, until the process ends.
    ///
    /// - Parameters:
    ///   - file: the image.
    ///   - tag: the tag that was made from it.
    ///   - out: the file to save to; nil for the image's own file.
    ///   - pause: waits between a change and its save.
    ///   - onSaved: called with the path of the file when it was saved.
    init(
        file: ImageFile,
        tag: any VirtualTag,
        out: String?,
        pause: @escaping @Sendable () async -> Void = { try? await Task.sleep(for: .milliseconds(200)) },
        onSaved: @escaping @Sendable (String) -> Void
    ) {
        self.file = file
        self.tag = tag
        self.out = out
        self.onSaved = onSaved
        saved = Locked(TagContents(of: tag))
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changes = continuation
        let save = { [file, tag, out, onSaved, saved] in
            _ = Self.save(file: file, tag: tag, out: out, onSaved: onSaved, saved: saved)
        }
        Task {
            for await _ in stream {
                // A program writes page after page. Wait, to save the file once for many pages.
                await pause()
                save()
            }
        }
    }

    /// Notes that the tag may have been written.
    func mayHaveChanged() {
        changes.yield()
    }

    /// Saves the last changes.
    func finish() throws(CommandFailure) {
        let failure = Self.save(file: file, tag: tag, out: out, onSaved: onSaved, saved: saved)
        if let failure { throw failure }
    }

    /// Saves the tag if its content has changed.
    ///
    /// - Returns: why it could not be saved.
    private static func save(
        file: ImageFile,
        tag: any VirtualTag,
        out: String?,
        onSaved: (String) -> Void,
        saved: Locked<TagContents?>
    ) -> CommandFailure? {
        let result = saved.withLock { saved -> Result<Bool, CommandFailure> in
            let now = TagContents(of: tag)
            guard now != saved else { return .success(false) }
            do throws(CommandFailure) {
                try file.save(tag, to: out)
                saved = now
                return .success(true)
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let isNew):
            if isNew { onSaved(file.path(out)) }
            return nil
        case .failure(let failure): return failure
        }
    }
}
