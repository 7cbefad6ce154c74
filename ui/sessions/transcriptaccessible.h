#pragma once

namespace ui {

// Makes screen readers see a TranscriptView as a document whose value is the text on the screen. Once is enough.
void installTranscriptAccessibility();

} // namespace ui
