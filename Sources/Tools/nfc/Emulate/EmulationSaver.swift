// SPDX-License-Identifier: Apache-2.0
import Glibc
import TagLink
import VirtualCards
import VirtualTags

/// Saves what other programs write to a tag: soon after each write, and at the end.
final class EmulationSaver: Sendable {
    private let file: ImageFile
    private let tag: any VirtualTag
    private let out: String?
    private let output: EmulationOutput
    private let saved: Locked<TagContents?>
    private let changes: AsyncStream<Void>.Continuation
    private let work: Task<Void, Never>

    init(file: ImageFile, tag: any VirtualTag, out: String?, output: EmulationOutput) {
        self.file = file
        self.tag = tag
        self.out = out
        self.output = output
        saved = Locked(TagContents(of: tag))
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changes = continuation
        let save = { [file, tag, out, output, saved] in
            _ = Self.save(file: file, tag: tag, out: out, output: output, saved: saved)
        }
        work = Task {
            for await _ in stream {
                // A program writes page after page. Wait, to save the file once for many pages.
                try? await Task.sleep(for: .milliseconds(200))
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
        changes.finish()
        work.cancel()
        let failure = Self.save(file: file, tag: tag, out: out, output: output, saved: saved)
        if let failure { throw failure }
    }

    /// Saves the tag if its content has changed.
    ///
    /// - Returns: why it could not be saved.
    private static func save(
        file: ImageFile,
        tag: any VirtualTag,
        out: String?,
        output: EmulationOutput,
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
            if isNew { output.saved(file.path(out)) }
            return nil
        case .failure(let failure): return failure
        }
    }
}
