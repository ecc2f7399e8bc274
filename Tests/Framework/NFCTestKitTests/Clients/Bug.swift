// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a client. Each is easily made, and shows on no desk.
enum Bug: String, CaseIterable, Codable, Sendable {
    case none
    case neverInvalidates = "An error path never invalidates the session"
    case neverCompletes = "An error path does not call the completion handler"
    case silentEnd = "An error ends the session without a message"
    case completesTwice = "The completion handler is called twice"
    case noRestartAfterLoss = "Polling is not restarted after a lost tag"
    case noRestartAfterSeveral = "Polling is not restarted after several tags"
    case lengthFirst = "The length is written before the body, page by page"
    case ignoresNAK = "A NAK in answer to a page write is ignored"
    case ignoresStatus = "A locked tag is written without a look at its status"
    case forcesPayload = "The first record is taken for granted"
    case blocksQueue = "The delegate's queue is blocked"
    case ignoresMoreData = "A status of 61xx is ignored"
    case takesFirst = "The first of several tags is taken"
    case keepsStateOnCancel = "The state is not reset when the person cancels"
    case retainsItself = "A closure holds its owner"
    case zerosForChunk = "A chunk that can't be read becomes zeros"
    case resumesTwice = "A continuation is resumed twice"
    case invalidatesFirst = "The session is invalidated before the result is handed over"
    // These are not in the documentation's table.
    case ignoresWriteError = "A write that fails counts as done"
    case ignoresConnectError = "A connection that fails is ignored"
}
